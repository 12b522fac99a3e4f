// javascript.js: JavaScript that stays, and TypeScript. The driver of contexts of both.
//
// Comes over the channel as the body of a function (require, module, process, fd); context/internal.h has what is said there. Code runs in this thread, as a script of
// the global scope, so that what it declares is there for the next; another thread reads requests, so that an interruption finds its way into a loop that never ends.
'use strict';

const fs = require('fs');
const path = require('path');
const util = require('util');
const vm = require('vm');
const { createRequire } = require('module');
const { Worker } = require('worker_threads');
const { pathToFileURL } = require('url');

const PIECE_MAX = 1 << 20;
const LINE_MAX = 30 << 20;

let current = 0;      // the run that there is; 0: none
let count = 0;
let abandon = null;   // ends the wait for what runs
let typescript = null;
const userRequire = createRequire(path.join(process.cwd(), 'cell.js'));

// Telling

function send(event) {
    let line = Buffer.from(JSON.stringify(event) + '\n');
    if (line.length > LINE_MAX)
        line = Buffer.from(JSON.stringify({ type: 'stderr', run: event.run, text: `a result of ${line.length} bytes was left out: it is too large\n` }) + '\n');
    let at = 0;
    while (at < line.length) {
        try {
            at += fs.writeSync(fd, line, at);
        } catch (error) {
            if (error.code !== 'EAGAIN')
                process.exit(1);
            Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
        }
    }
}

function tell(type, text) {
    for (let at = 0; at < text.length; at += PIECE_MAX)
        send({ type, run: current, text: text.slice(at, at + PIECE_MAX) });
}

// What is printed outside of a run goes where it would have gone.
function takeStream(stream, type) {
    const write = stream.write.bind(stream);
    const decoder = new (require('string_decoder').StringDecoder)('utf8');

    stream.write = (data, encoding, callback) => {
        const done = typeof encoding === 'function' ? encoding : callback;
        if (current === 0)
            return write(data, encoding, callback);
        const text = typeof data === 'string' ? data : decoder.write(Buffer.from(data));
        if (text.length > 0)
            tell(type, text);
        if (done)
            process.nextTick(done);
        return true;
    };
}

// Results

const FIELDS = {
    'text/plain': 'text', 'text/html': 'html', 'text/markdown': 'markdown', 'image/svg+xml': 'svg', 'image/png': 'png', 'image/jpeg': 'jpeg',
    'application/pdf': 'pdf', 'text/latex': 'latex', 'application/json': 'json', 'application/javascript': 'javascript',
};

function asJson(value) {
    try {
        const text = JSON.stringify(value);
        return text === undefined ? undefined : JSON.parse(text);
    } catch {
        return undefined;
    }
}

function bundleOf(value) {
    const own = value !== null && typeof value === 'object' ? value : {};
    for (const method of [Symbol.for('Jupyter.display'), '_toMime', Symbol.for('cove.display')])
        if (typeof own[method] === 'function')
            return own[method]();
    if (typeof own._toHtml === 'function')
        return { 'text/plain': util.inspect(value), 'text/html': String(own._toHtml()) };
    const bundle = { 'text/plain': typeof value === 'string' ? value : util.inspect(value) };
    const plain = own === value && (Array.isArray(value) || [Object.prototype, null].includes(Object.getPrototypeOf(value)));
    const json = plain ? asJson(value) : undefined;
    if (json !== undefined)
        bundle['application/json'] = json;
    return bundle;
}

function sendResult(bundle, main) {
    const event = { type: 'result', run: current, extra: {}, is_main_result: main };
    for (const [mime, content] of Object.entries(bundle))
        if (!(mime in FIELDS))
            event.extra[mime] = content;
        else if (mime === 'application/json')
            event.json = content;
        else
            event[FIELDS[mime]] = Buffer.isBuffer(content) ? content.toString('base64') : String(content);
    if (current !== 0)
        send(event);
}

function display(value, options) {
    sendResult(options && options.raw ? value : bundleOf(value), false);
}

// Code as a script of the global scope. A script may declare a name once only, and may not wait: so declarations at the top become assignments to properties of the
// global object, and code that waits is put into a function. Both need to know where the declarations are; a small reader of the language's tokens finds them.

const WORD = /[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*/uy;
const BEFORE_REGEX = new Set(['return', 'typeof', 'instanceof', 'in', 'of', 'new', 'delete', 'void', 'throw', 'case', 'do', 'else', 'await', 'yield']);

function tokens(code) {
    const list = [];
    const braces = []; // of templates that are open: their depth
    let at = 0, depth = 0, newline = true;

    const push = (kind, end) => {
        list.push({ kind, text: code.slice(at, end), at, end, depth, newline });
        at = end;
        newline = false;
    };
    const quoted = (quote) => {
        let end = at + 1;
        while (end < code.length && code[end] !== quote && code[end] !== '\n')
            end += code[end] === '\\' ? 2 : 1;
        push('text', Math.min(end + 1, code.length));
    };
    const template = (from) => {
        let end = from;
        while (end < code.length && code[end] !== '`' && !code.startsWith('${', end))
            end += code[end] === '\\' ? 2 : 1;
        if (code.startsWith('${', end)) {
            push('text', end + 2);
            braces.push(depth++);
        } else
            push('text', Math.min(end + 1, code.length));
    };
    const mayBeRegex = () => {
        const last = list[list.length - 1];
        if (!last || last.kind === 'sign')
            return !last || !(last.text === ')' || last.text === ']' || last.text === '}');
        return last.kind === 'word' && BEFORE_REGEX.has(last.text);
    };
    const regex = () => {
        let end = at + 1, inside = false;
        while (end < code.length && code[end] !== '\n' && (inside || code[end] !== '/')) {
            inside = code[end] === '[' || (inside && code[end] !== ']');
            end += code[end] === '\\' ? 2 : 1;
        }
        end++;
        while (end < code.length && /[a-z]/.test(code[end]))
            end++;
        push('text', end);
    };

    while (at < code.length) {
        const c = code[at];
        WORD.lastIndex = at;
        if (c === '\n' || c === '\u2028' || c === '\u2029') {
            newline = true;
            at++;
        } else if (/\s/.test(c))
            at++;
        else if (code.startsWith('//', at) || (at === 0 && code.startsWith('#!'))) {
            while (at < code.length && code[at] !== '\n')
                at++;
        } else if (code.startsWith('/*', at)) {
            const end = code.indexOf('*/', at + 2);
            newline = newline || code.slice(at, end < 0 ? code.length : end).includes('\n');
            at = end < 0 ? code.length : end + 2;
        } else if (c === '"' || c === "'")
            quoted(c);
        else if (c === '`')
            template(at + 1);
        else if (WORD.test(code))
            push('word', WORD.lastIndex);
        else if (/[0-9]/.test(c)) {
            let end = at + 1;
            while (end < code.length && /[\w.]/.test(code[end]))
                end++;
            push('number', end);
        } else if (c === '/' && mayBeRegex())
            regex();
        else if ('([{'.includes(c)) {
            push('sign', at + 1);
            depth++;
        } else if (c === '}' && braces.length > 0 && braces[braces.length - 1] === depth - 1) {
            depth = braces.pop();
            template(at + 1);
        } else if (')]}'.includes(c)) {
            depth--;
            push('sign', at + 1);
        } else if (code.startsWith('=>', at))
            push('sign', at + 2);
        else
            push('sign', at + 1);
    }
    return list;
}

function parses(code) {
    try {
        new vm.Script(code);
        return true;
    } catch {
        return false;
    }
}

// Where statements of the top begin: candidates are tokens at depth 0; a boundary is one that both sides parse at.
function statements(code, list, wrap) {
    const starts = [];
    let from = 0;

    const top = list.filter((t) => t.depth === 0);
    for (let i = 0; i < top.length; i++) {
        const token = top[i], before = top[i - 1];
        if (i === 0 || !(token.newline || before.text === ';' || before.text === '}'))
            continue;
        if (token.text === ';' || !parses(wrap(code.slice(from, token.at))))
            continue;
        if (/^(else|catch|finally|while)$/.test(token.text) && !parses(wrap(code.slice(token.at))))
            continue;
        starts.push([from, token.at]);
        from = token.at;
    }
    starts.push([from, code.length]);
    return starts.map(([a, b]) => code.slice(a, b));
}

const IN_ASYNC = (code) => `(async () => {${code}\n})`;

// Names that a pattern binds: `a`, `{ a, b: c = 1, ...d }`, `[a, , [b]]`. By asking the language itself.
function bound(pattern) {
    const names = new Set();
    const words = tokens(pattern).filter((t) => t.kind === 'word').map((t) => t.text);
    for (const word of words) {
        // A name that is bound cannot be declared beside it.
        if (!parses(`async () => { let ${pattern} = {}; let ${word}; }`) && parses(`async () => { let ${pattern} = {}; }`) && parses(`let ${word}`))
            names.add(word);
    }
    return [...names];
}

// `import` of a module as what a script can do.
function importOf(statement) {
    const found = /^import\s*(?:([\s\S]*?)\s*from\s*)?(['"])(.*?)\2\s*(?:(?:with|assert)\s*\{[\s\S]*?\}\s*)?;?\s*$/.exec(statement.trim());
    if (!found || /^import\s*\(/.test(statement.trim()))
        return null;
    const [, what, , name] = found;
    if (what === undefined)
        return `await __cove_import__(${JSON.stringify(name)});`;
    const parts = [];
    const all = /\*\s*as\s+([\w$]+)/.exec(what);
    const named = /\{([\s\S]*)\}/.exec(what);
    const fallback = /^\s*([\w$]+)\s*(?:,|$)/.exec(what);
    parts.push(`const __cove_module__ = await __cove_import__(${JSON.stringify(name)});`);
    if (all)
        parts.push(`globalThis.${all[1]} = __cove_module__;`);
    if (fallback)
        parts.push(`globalThis.${fallback[1]} = __cove_module__.default;`);
    if (named)
        for (const one of named[1].split(',').map((s) => s.trim()).filter(Boolean)) {
            const [from, to] = one.split(/\s+as\s+/);
            parts.push(`globalThis.${(to || from).trim()} = __cove_module__[${JSON.stringify(from.trim())}];`);
        }
    return `{ ${parts.join(' ')} }`;
}

// A declaration at the top, so that its names are the global object's.
function declarationOf(statement) {
    const text = statement.trim().replace(/^export\s+(default\s+)?(?=(?:async\s+)?(?:function|class|const|let|var)\b)/, '');
    let found;

    if ((found = /^(?:async\s+)?function\s*\*?\s*([\w$]+)\s*\(/.exec(text)))
        return { hoist: `globalThis.${found[1]} = ${text.replace(/;\s*$/, '')};` };
    if ((found = /^class\s+([\w$]+)/.exec(text)))
        return { text: `globalThis.${found[1]} = ${text.replace(/;\s*$/, '')};` };
    if (!/^(?:const|let|var)\b/.test(text))
        return null;
    return { text: declarators(text) };
}

// const a = 1, { b } = x; → assignments. Each declarator ends at a comma of depth 0.
function declarators(text) {
    const body = text.replace(/^(?:const|let|var)\s*/, '').replace(/;\s*$/, '');
    const list = tokens(body), out = [];
    let from = 0;

    const one = (part) => {
        const sign = tokens(part).find((t) => t.depth === 0 && t.text === '=');
        const pattern = (sign ? part.slice(0, sign.at) : part).trim();
        const value = sign ? part.slice(sign.at + 1).trim() : 'undefined';
        if (/^[\w$]+$/.test(pattern)) {
            out.push(`globalThis.${pattern} = ${nameless(value) ? `({ ${pattern}: ${value} }).${pattern}` : value};`);
            return;
        }
        const names = bound(pattern);
        out.push(`{ const ${pattern} = ${value}; ${names.map((n) => `globalThis.${n} = ${n};`).join(' ')} }`);
    };
    for (const token of list)
        if (token.depth === 0 && token.text === ',') {
            one(body.slice(from, token.at));
            from = token.end;
        }
    one(body.slice(from));
    return out.join(' ');
}

// A function or class that takes its name from where it is assigned to.
function nameless(value) {
    return /^(?:async\b\s*)?(?:\(|[\w$]+\s*=>|function\b\s*\*?\s*\(|class\s*(?:\{|extends\b))/.test(value) && /=>|function|class/.test(value);
}

function isExpression(statement) {
    const text = statement.trim().replace(/;\s*$/, '');
    if (text === '' || /^(?:function|class|async\s+function)\b/.test(text))
        return false;
    if (/^\{/.test(text) && !parses(`async () => (${text}\n)`))
        return false;
    return parses(`async () => (${text}\n)`);
}

// import() as what a script may do: a call of ours.
function ownImports(code) {
    const list = tokens(code);
    let out = '', from = 0;
    list.forEach((token, i) => {
        const before = list[i - 1];
        if (token.text !== 'import' || !list[i + 1] || list[i + 1].text !== '(' || (before && before.text === '.'))
            return;
        out += code.slice(from, token.at) + '__cove_import__';
        from = token.end;
    });
    return out + code.slice(from);
}

// The code as the body of a function that waits, whose value is that of the last expression.
function rewrite(code) {
    // Imports are no statements of a script: they are set apart first.
    const marked = code.replace(/^[ \t]*import\s+(?!\()[^;'"]*?(['"])[^'"\n]*\1[^\n;]*;?|^[ \t]*import\s*(['"])[^'"\n]*\2\s*;?/gm, (line) => importOf(line) || line);
    const own = ownImports(marked);
    const parts = statements(own, tokens(own), IN_ASYNC);
    const hoisted = [], out = [];
    let value = false;

    parts.forEach((part, i) => {
        const declaration = declarationOf(part);
        const rest = parts.slice(i + 1).every((p) => /^[\s;]*$/.test(p.replace(/\/\/.*|\/\*[\s\S]*?\*\//g, '')));
        if (declaration && declaration.hoist)
            hoisted.push(declaration.hoist);
        else if (declaration)
            out.push(declaration.text);
        else if (rest && !value && isExpression(part.replace(/(?:\s|;|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*$/, ''))) {
            value = true;
            out.push(`return { value: (${part.replace(/(?:\s|;|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*$/, '')}\n) };`);
        } else
            out.push(part);
    });
    return IN_ASYNC([...hoisted, ...out].join('\n'));
}

// TypeScript

function loadTypescript() {
    if (typescript)
        return typescript;
    const places = [process.cwd(), '/usr/share/nodejs', '/usr/lib/node_modules', '/usr/local/lib/node_modules', path.join(process.execPath, '../../lib/node_modules')];
    for (const place of places)
        for (const name of [path.join(place, 'typescript'), path.join(place, 'node_modules', 'typescript')])
            try {
                return (typescript = createRequire(path.join(place, 'x.js'))(name));
            } catch { /* the next */ }
    try {
        return (typescript = userRequire('typescript'));
    } catch { /* none */ }
    const strip = require('module').stripTypeScriptTypes;
    if (strip)
        return (typescript = { strip });
    throw new Error('TypeScript is not installed in this template: apt-get install node-typescript, npm install typescript, or take a node that can strip types (22.13 or newer)');
}

function asJavascript(code) {
    const ts = loadTypescript();
    if (ts.strip)
        return ts.strip(code, { mode: 'transform' });
    const options = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true, importsNotUsedAsValues: 1, preserveValueImports: true };
    const done = ts.transpileModule(code, { compilerOptions: options, reportDiagnostics: true });
    const wrong = (done.diagnostics || []).filter((d) => d.category === ts.DiagnosticCategory.Error && d.code < 2000);
    if (wrong.length > 0)
        throw new SyntaxError(ts.flattenDiagnosticMessageText(wrong[0].messageText, '\n'));
    return done.outputText.replace(/^export \{\};?\n?/m, '');
}

// One run

class Interrupted extends Error {}
Interrupted.prototype.name = 'KeyboardInterrupt';

async function evaluate(code, isTypescript) {
    const source = isTypescript ? asJavascript(code) : code;
    const name = `<cell ${count}>`;
    let rewritten;

    try {
        rewritten = rewrite(source);
        new vm.Script(rewritten);
    } catch {
        rewritten = null;
    }
    // What cannot be rewritten is run as it is: then the language itself says what is wrong with it.
    const script = new vm.Script(rewritten || source, { filename: name });
    const value = script.runInThisContext({ breakOnSigint: true });
    if (!rewritten)
        return { value };
    return interruptible(() => vm.runInThisContext('(f) => f()', { filename: '<cove>' })(value));
}

// The first part of it runs in here without giving way: it is called by a script that can be broken off.
function interruptible(start) {
    globalThis.__cove_start__ = start;
    return vm.runInThisContext('__cove_start__()', { filename: '<cove>', breakOnSigint: true });
}

async function load(name) {
    if (/^\.{0,2}\//.test(name))
        return import(pathToFileURL(path.resolve(process.cwd(), name)).href);
    try {
        return await import(name);
    } catch (error) {
        return import(pathToFileURL(userRequire.resolve(name)).href);
    }
}

function errorEvent(error) {
    const known = error !== null && typeof error === 'object' && (error instanceof Error || (typeof error.message === 'string' && typeof error.name === 'string'));
    if (error && error.code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED')
        return { name: 'KeyboardInterrupt', value: '', traceback: 'KeyboardInterrupt' };
    const stack = known ? String(error.stack || error.message) : util.inspect(error);
    const rows = stack.split('\n').filter((row) => !/\(?(node:|<cove>|evalmachine|\[eval\])|at (new Script|evaluate|interruptible|run) \(/.test(row));
    return { name: known ? String(error.name || 'Error') : 'Error', value: known ? String(error.message) : util.inspect(error), traceback: rows.join('\n') };
}

async function run(number, code, environment, isTypescript) {
    const saved = new Map();

    count++;
    for (const assignment of environment) {
        const at = assignment.indexOf('=');
        const name = assignment.slice(0, at);
        saved.set(name, process.env[name]);
        process.env[name] = assignment.slice(at + 1);
    }
    current = number;
    try {
        const broken = new Promise((_, reject) => { abandon = () => reject(new Interrupted('')); });
        broken.catch(() => {});
        const result = await Promise.race([evaluate(code, isTypescript), broken]);
        if (result && result.value !== undefined && result.value !== null)
            sendResult(bundleOf(result.value), true);
        else if (result && result.value === null)
            sendResult({ 'text/plain': 'null' }, true);
    } catch (error) {
        send({ type: 'error', run: number, ...errorEvent(error) });
    }
    abandon = null;
    for (const [name, value] of saved)
        if (value === undefined)
            delete process.env[name];
        else
            process.env[name] = value;
    current = 0;
    send({ type: 'end_of_execution', run: number });
}

// Requests: read by another thread, which can also break off what runs here.

const state = new SharedArrayBuffer(8); // [0]: the run that there is
const shared = new Int32Array(state);

function reader() {
    const { parentPort, workerData } = require('worker_threads');
    const files = require('fs');
    const running = new Int32Array(workerData.state);
    let rest = '', told = 0;
    const terminate = () => {
        try {
            const { Session } = require('inspector');
            const session = new Session();
            session.connectToMainThread();
            session.post('Runtime.terminateExecution', () => session.disconnect());
        } catch { /* a node without it: the daemon will end us */ }
    };
    const decoder = new (require('string_decoder').StringDecoder)('utf8');
    const buffer = Buffer.alloc(1 << 16);

    const unescape = (field) => field.replace(/\\(\\|n|0036)/g, (_, c) => ({ '\\': '\\', n: '\n', '0036': '\x1e' })[c]);
    for (;;) {
        let n;
        try {
            n = files.readSync(workerData.fd, buffer, 0, buffer.length);
        } catch (error) {
            if (error.code === 'EAGAIN') {
                Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
                continue;
            }
            n = 0;
        }
        if (n === 0)
            process.kill(process.pid, 'SIGKILL'); // there is nobody any more who could ask
        const lines = (rest + decoder.write(buffer.subarray(0, n))).split('\n');
        rest = lines.pop();
        for (const line of lines) {
            if (line === '')
                continue;
            const fields = line.split('\x1e').map(unescape);
            const meant = fields[0] === 'interrupt' ? Number(fields[1]) : fields[0] === 'sync' ? Atomics.load(running, 0) : 0;
            if (meant !== 0 && meant === Atomics.load(running, 0)) {
                process.kill(process.pid, 'SIGINT');
                if (meant === told)
                    terminate(); // it was told before: it loops behind an await, where no signal reaches it
                told = meant;
            }
            parentPort.postMessage(fields);
        }
    }
}

const queue = [];
let busy = false;

async function pump() {
    if (busy)
        return;
    busy = true;
    while (queue.length > 0) {
        const fields = queue.shift();
        if (fields[0] === 'run') {
            Atomics.store(shared, 0, Number(fields[1]));
            await run(Number(fields[1]), fields[2], fields.slice(3), language === 'typescript');
            Atomics.store(shared, 0, 0);
        } else if (fields[0] === 'env')
            for (const assignment of fields.slice(1))
                process.env[assignment.slice(0, assignment.indexOf('='))] = assignment.slice(assignment.indexOf('=') + 1);
        else if (fields[0] === 'sync')
            send({ type: 'synced', token: fields[1], count });
    }
    busy = false;
}

const language = process.argv[process.argv.length - 1];
process.on('SIGINT', () => {
    if (abandon)
        abandon();
});
process.on('uncaughtException', (error) => {
    if (current !== 0)
        tell('stderr', `Uncaught ${util.inspect(error)}\n`);
});
process.on('unhandledRejection', (error) => {
    if (current !== 0)
        tell('stderr', `Unhandled rejection: ${util.inspect(error)}\n`);
});
takeStream(process.stdout, 'stdout');
takeStream(process.stderr, 'stderr');
process.argv.splice(1);
Object.assign(globalThis, { require: userRequire, display, __cove_import__: load });
Object.defineProperty(globalThis, '__cove_start__', { writable: true, enumerable: false, value: null });

const worker = new Worker(`(${reader.toString()})()`, { eval: true, workerData: { fd, state }, stdin: false });
worker.on('message', (fields) => {
    queue.push(fields);
    pump();
});
send({ type: 'ready' });
