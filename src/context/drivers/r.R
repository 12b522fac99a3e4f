# r.R: R that stays. The driver of contexts of R.
#
# Comes over the channel and is evaluated; context/internal.h has what is said there. R cannot read a socket that it was given: a shell has put pipes before it, descriptors 4 (requests)
# and 5 (what is told). What code prints is read by the daemon from the pipes that are descriptors 1 and 2; an interruption is a signal.

.cove <- new.env()
local({
    count <- 0L

    quoted <- function(text) {
        text <- enc2utf8(paste(text, collapse = "\n"))
        text <- gsub("\\", "\\\\", text, fixed = TRUE)
        text <- gsub("\"", "\\\"", text, fixed = TRUE)
        for (code in 1:31) {
            sign <- intToUtf8(code)
            if (grepl(sign, text, fixed = TRUE))
                text <- gsub(sign, sprintf("\\u%04x", code), text, fixed = TRUE)
        }
        paste0("\"", text, "\"")
    }

    send <- function(...) {
        flush(stdout())
        cat(paste0(...), "\n", file = told, sep = "")
        flush(told)
    }

    unescaped <- function(field) {
        parts <- strsplit(field, "\\\\", fixed = TRUE)[[1]]
        if (length(parts) == 0)
            return(strrep("\\", nchar(field) %/% 2))
        parts <- gsub("\\n", "\n", parts, fixed = TRUE)
        parts <- gsub("\\0036", "\036", parts, fixed = TRUE)
        tail <- nchar(field) - nchar(sub("(\\\\\\\\)+$", "", field))
        paste0(paste(parts, collapse = "\\"), strrep("\\", tail %/% 2))
    }

    result <- function(run, value) {
        text <- paste(utils::capture.output(print(value)), collapse = "\n")
        html <- ""
        if (is.data.frame(value))
            html <- paste0(",\"data\":{", paste(vapply(names(value), function(name) paste0(quoted(name), ":[",
                paste(vapply(value[[name]], function(v) if (is.na(v)) "null" else if (is.numeric(v)) format(v, digits = 15) else quoted(as.character(v)), ""),
                      collapse = ","), "]"), ""), collapse = ","), "}")
        send("{\"type\":\"result\",\"run\":", run, ",\"text\":", quoted(text), html, ",\"extra\":{},\"is_main_result\":true}")
    }

    evaluate <- function(run, code) {
        expressions <- parse(text = code, keep.source = FALSE)
        last <- list(value = NULL, visible = FALSE)
        for (i in seq_along(expressions)) {
            last <- withVisible(eval(expressions[[i]], globalenv()))
            if (last$visible && i < length(expressions))
                print(last$value)
        }
        if (last$visible)
            result(run, last$value)
    }

    fail <- function(run, name, value)
        send("{\"type\":\"error\",\"run\":", run, ",\"name\":", quoted(name), ",\"value\":", quoted(value), ",\"traceback\":", quoted(value), "}")

    run_one <- function(run, code, environment) {
        names <- sub("=.*$", "", environment)
        before <- Sys.getenv(names, unset = NA, names = FALSE)
        for (i in seq_along(environment))
            do.call(Sys.setenv, stats::setNames(list(sub("^[^=]*=", "", environment[[i]])), names[[i]]))
        tryCatch(evaluate(run, code),
                 interrupt = function(e) fail(run, "KeyboardInterrupt", ""),
                 error = function(e) fail(run, class(e)[[1]], conditionMessage(e)))
        for (i in seq_along(names))
            if (is.na(before[[i]])) Sys.unsetenv(names[[i]]) else do.call(Sys.setenv, stats::setNames(list(before[[i]]), names[[i]]))
        send("{\"type\":\"end_of_execution\",\"run\":", run, "}")
    }

    serve_one <- function(line) {
        fields <- vapply(strsplit(line, "\036", fixed = TRUE)[[1]], unescaped, "", USE.NAMES = FALSE)
        if (fields[[1]] == "run") {
            count <<- count + 1L
            run_one(fields[[2]], if (length(fields) > 2) fields[[3]] else "", fields[-(1:3)])
        } else if (fields[[1]] == "env") {
            for (one in fields[-1])
                do.call(Sys.setenv, stats::setNames(list(sub("^[^=]*=", "", one)), sub("=.*$", "", one)))
        } else if (fields[[1]] == "sync")
            send("{\"type\":\"synced\",\"token\":", quoted(fields[[2]]), ",\"count\":", count, "}")
    }

    serve <- function() {
        send("{\"type\":\"ready\"}")
        repeat tryCatch({
            line <- readLines(requests, n = 1, warn = FALSE, encoding = "UTF-8")
            if (length(line) == 0)
                quit("no", 0)
            if (nzchar(line))
                serve_one(line)
        }, interrupt = function(e) NULL)
    }
}, .cove)
