// Java.java: Java that stays. The driver of contexts of Java, over JShell in this very process.
//
// Comes over the channel, is written to a file and started from its source; context/internal.h has what is said there. What code prints is read by the daemon from the pipes that
// are descriptors 1 and 2. Java has no way to change its environment, so variables are there as system properties too.

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.Constructor;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import jdk.jshell.Diag;
import jdk.jshell.EvalException;
import jdk.jshell.JShell;
import jdk.jshell.Snippet;
import jdk.jshell.SnippetEvent;
import jdk.jshell.SourceCodeAnalysis;

public class Java {
    private static final int CHANNEL = 3;
    private static final String[] PACKAGES = { "java.io", "java.math", "java.net", "java.nio.file", "java.util", "java.util.concurrent", "java.util.function",
        "java.util.regex", "java.util.stream" };

    private final OutputStream out;
    private final InputStream in;
    private final JShell shell = JShell.builder().executionEngine("local").build();
    private final LinkedBlockingQueue<String[]> requests = new LinkedBlockingQueue<>();
    private volatile long running;
    private volatile boolean stopped;
    private int count;

    private Java() throws ReflectiveOperationException {
        Constructor<FileDescriptor> make = FileDescriptor.class.getDeclaredConstructor(int.class);
        make.setAccessible(true);
        FileDescriptor fd = make.newInstance(CHANNEL);
        in = new FileInputStream(fd);
        out = new FileOutputStream(fd);
    }

    // Telling

    private static String quoted(String text) {
        StringBuilder b = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\')
                b.append('\\').append(c);
            else if (c < 0x20 || c > 0x7e)
                b.append(String.format("\\u%04x", (int) c));
            else
                b.append(c);
        }
        return b.append('"').toString();
    }

    private synchronized void send(String line) {
        System.out.flush();
        System.err.flush();
        try {
            out.write((line + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException error) {
            System.exit(1);
        }
    }

    private void sendError(String name, String value, String traceback) {
        send("{\"type\":\"error\",\"run\":" + running + ",\"name\":" + quoted(name) + ",\"value\":" + quoted(value) + ",\"traceback\":" + quoted(traceback) + "}");
    }

    // One run

    private boolean fails(SnippetEvent event, Snippet snippet) {
        if (stopped) {
            sendError("KeyboardInterrupt", "", "KeyboardInterrupt");
            return true;
        }
        if (event.exception() instanceof EvalException error) {
            StringBuilder trace = new StringBuilder(error.getExceptionClassName() + ": " + error.getMessage());
            for (StackTraceElement row : error.getStackTrace())
                trace.append("\n    at ").append(row);
            sendError(error.getExceptionClassName().replaceAll("^.*\\.", ""), String.valueOf(error.getMessage()), trace.toString());
            return true;
        }
        if (event.exception() != null || event.status() == Snippet.Status.REJECTED) {
            StringBuilder text = new StringBuilder(event.exception() != null ? String.valueOf(event.exception().getMessage()) : "");
            shell.diagnostics(snippet).filter(Diag::isError).forEach(d -> text.append(text.length() > 0 ? "\n" : "").append(d.getMessage(null)));
            sendError("CompilationError", text.toString(), snippet.source() + "\n" + text);
            return true;
        }
        return false;
    }

    private void evaluate(String code) {
        SourceCodeAnalysis analysis = shell.sourceCodeAnalysis();
        String rest = code, value = null;

        while (!rest.isBlank()) {
            SourceCodeAnalysis.CompletionInfo info = analysis.analyzeCompletion(rest);
            value = null;
            if (info.source() == null && info.completeness() == SourceCodeAnalysis.Completeness.EMPTY)
                break;
            List<SnippetEvent> events = shell.eval(info.source() != null ? info.source() : rest);
            for (SnippetEvent event : events) {
                Snippet snippet = event.snippet();
                if (event.causeSnippet() != null)
                    continue;
                if (fails(event, snippet))
                    return;
                boolean shown = snippet.subKind() == Snippet.SubKind.TEMP_VAR_EXPRESSION_SUBKIND || snippet.subKind() == Snippet.SubKind.VAR_VALUE_SUBKIND
                    || snippet.subKind() == Snippet.SubKind.OTHER_EXPRESSION_SUBKIND;
                value = shown ? event.value() : null;
            }
            if (info.source() == null)
                break;
            rest = info.remaining();
        }
        if (value == null || value.isEmpty())
            return;
        if (value.length() > 1 && value.startsWith("\"") && value.endsWith("\""))
            value = value.substring(1, value.length() - 1);
        send("{\"type\":\"result\",\"run\":" + running + ",\"text\":" + quoted(value) + ",\"extra\":{},\"is_main_result\":true}");
    }

    private void run(long number, String code, List<String> environment) {
        Map<String, String> saved = new HashMap<>();

        count++;
        for (String assignment : environment) {
            int at = assignment.indexOf('=');
            saved.put(assignment.substring(0, at), System.getProperty(assignment.substring(0, at)));
            System.setProperty(assignment.substring(0, at), assignment.substring(at + 1));
        }
        stopped = false;
        running = number;
        try {
            evaluate(code);
        } catch (Throwable error) { // whatever it is: the next one shall find us here
            sendError(error.getClass().getSimpleName(), String.valueOf(error.getMessage()), String.valueOf(error));
        }
        saved.forEach((name, value) -> {
            if (value == null)
                System.clearProperty(name);
            else
                System.setProperty(name, value);
        });
        running = 0;
        send("{\"type\":\"end_of_execution\",\"run\":" + number + "}");
    }

    // Requests

    private static String unescaped(String field) {
        StringBuilder b = new StringBuilder();
        for (int i = 0; i < field.length(); i++) {
            char c = field.charAt(i);
            if (c != '\\' || i + 1 == field.length())
                b.append(c);
            else if (field.charAt(++i) == 'n')
                b.append('\n');
            else if (field.charAt(i) == '0') {
                b.append('\u001e');
                i += 3;
            } else
                b.append(field.charAt(i));
        }
        return b.toString();
    }

    private void interrupt() {
        stopped = true;
        shell.stop();
    }

    private void take(String line) {
        String[] fields = line.split("\u001e", -1);
        for (int i = 0; i < fields.length; i++)
            fields[i] = unescaped(fields[i]);
        boolean meant = fields[0].equals("sync") || (fields[0].equals("interrupt") && fields[1].equals(Long.toString(running)));
        if (meant && running != 0)
            interrupt();
        requests.add(fields);
    }

    private void readRequests() {
        java.io.ByteArrayOutputStream line = new java.io.ByteArrayOutputStream();
        byte[] buffer = new byte[1 << 16];

        try {
            for (int n; (n = in.read(buffer)) > 0;)
                for (int i = 0; i < n; i++)
                    if (buffer[i] != '\n')
                        line.write(buffer[i]);
                    else {
                        if (line.size() > 0)
                            take(line.toString(StandardCharsets.UTF_8));
                        line.reset();
                    }
        } catch (IOException error) {
            // as its end
        }
        Runtime.getRuntime().halt(0); // there is nobody any more who could ask
    }

    private void serve() throws InterruptedException {
        Thread reader = new Thread(this::readRequests);
        reader.setDaemon(true);
        System.getenv().forEach((name, value) -> {
            if (System.getProperty(name) == null)
                System.setProperty(name, value);
        });
        for (String name : PACKAGES)
            shell.eval("import " + name + ".*;");
        reader.start();
        send("{\"type\":\"ready\"}");
        for (;;) {
            String[] fields = requests.take();
            if (fields[0].equals("run") && fields.length >= 3)
                run(Long.parseLong(fields[1]), fields[2], new ArrayList<>(List.of(fields).subList(3, fields.length)));
            else if (fields[0].equals("env"))
                for (int i = 1; i < fields.length; i++)
                    System.setProperty(fields[i].substring(0, fields[i].indexOf('=')), fields[i].substring(fields[i].indexOf('=') + 1));
            else if (fields[0].equals("sync"))
                send("{\"type\":\"synced\",\"token\":" + quoted(fields[1]) + ",\"count\":" + count + "}");
        }
    }

    public static void main(String[] args) throws Exception {
        if (args.length > 0) { // where we came from
            Files.deleteIfExists(Path.of(args[0], "Java.java"));
            Files.deleteIfExists(Path.of(args[0]));
        }
        new Java().serve();
    }
}
