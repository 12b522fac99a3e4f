/* net.h: the inside of the sandbox's network namespace.
 *
 * Brings the loopback interface up; there is no other. Runs inside, in the new namespace. */
#pragma once

int net_loopback_up(void);
