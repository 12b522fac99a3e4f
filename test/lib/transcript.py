"""transcript: what a page of the documentation shows in its console blocks: commands, and what they print.

    of(page)            the blocks of a page: [(reason, [(command, [line, …]), …]), …]. The reason is that of `<!-- not run: REASON -->` before it, or ''
    walk(case, blocks, env, place, name)
                        runs their commands in one shell, in their order, in the directory `place`, and compares
"""

import re
import subprocess
from pathlib import Path

BLOCK = re.compile(r"^(?:<!-- not run: ([^\n]+) -->\n)?```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HERE_DOCUMENT = re.compile(r"<<'(\w+)'$")
STEP = """
(exit $status); eval {command} </dev/null >{out} 2>&1; status=$?
printf '%s\\n' $status >{out}.status
"""


def steps(text):
    found, end = [], None
    for line in text.splitlines():
        if end:
            found[-1] = (found[-1][0] + "\n" + line, [])
            end = None if line == end else end
        elif line.startswith("$ "):
            found.append((line[2:], []))
            document = HERE_DOCUMENT.search(line)
            end = document and document[1]
        elif line.startswith("> ") and found[-1][0].endswith("\\"):
            found[-1] = (found[-1][0] + "\n" + line[2:], found[-1][1])
        else:
            found[-1][1].append(line)
    return found


def of(page):
    text = page.read_text()
    blocks = [(reason, steps(block)) for reason, block in BLOCK.findall(text)]
    assert len(blocks) == text.count("```console\n"), page.name
    return blocks


def shown(lines):
    """The pattern of an output: `…` stands for anything, alone on a line for any number of lines."""
    pattern = ""
    for line in lines:
        pattern += r"(?:.*\n)*" if line == "…" else ".*".join(re.escape(part) for part in line.split("…")) + r"\n"
    return re.compile(r"\A" + pattern + r"\Z")


def quoted(command):
    return "'" + command.replace("'", "'\\''") + "'"


def walk(case, blocks, env, place, name):
    todo = [step for block in blocks for step in block]
    case.assertGreater(len(todo), 0, name)
    out = Path(place) / "steps"
    out.mkdir(exist_ok=True)
    script = "status=0\n" + "".join(STEP.format(command=quoted(command), out=out / str(i)) for i, (command, _) in enumerate(todo))
    home = Path(place) / "home"
    home.mkdir(exist_ok=True)
    subprocess.run(["bash", "-o", "pipefail", "-c", script], env={**env, "HOME": str(home)}, cwd=home, stdin=subprocess.DEVNULL, timeout=case.patience(120))
    for i, (command, lines) in enumerate(todo):
        with case.subTest(page=name, command=command):
            printed = (out / str(i)).read_text(errors="replace")
            status = int((out / f"{i}.status").read_text())
            asked = i + 1 < len(todo) and todo[i + 1][0] == "echo $?"
            case.assertTrue(status == 0 or asked or lines == ["…"], f"$ {command}\n{printed}exit status {status}")
            case.assertRegex(printed, shown(lines), f"$ {command}")
