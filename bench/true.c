/* true.c: the program that the floors run. Linked statically: no dynamic loader stands between exec and exit. */

int main(void) {
        return 0;
}
