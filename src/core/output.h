/* output.h: a reader of one stream of an execution's output, wherever it lies: in the segment of its sandbox, or in a
 * journal of its own.
 *
 * It stays readable when the execution is freed, and when its sandbox is deleted. execution.h has the output for
 * display; these functions show the values that must not be shown, unless a mask is applied.
 * Must not know: who reads, masks. */
#pragma once

#include "core/execution.h"

/* The raw output. Errors as execution_open_output(). */
int output_open(const Execution *x, ExecutionStream stream, OutputReader **ret);
OutputReader *output_close(OutputReader *o); /* NULL is fine; returns NULL */

static inline void output_closep(OutputReader **o) {
        *o = output_close(*o);
}
#define _cleanup_output_ _cleanup_(output_closep)

/* Bytes of the stream. Of an ended execution: those that it had at its end; a process left behind may write more. */
uint64_t output_size(const Execution *x, ExecutionStream stream, OutputReader *o);
/* A MaskRead (mask.h). */
ssize_t output_read(void *reader, void *buffer, size_t size, uint64_t offset);
/* When the byte at `offset` was read from the program, by the wall clock; in a journal: when it was last written to. 0: not
 * known. */
usec_t output_time(OutputReader *o, uint64_t offset);
/* Where the byte is in the order of the execution's whole output: of two bytes of its streams, that with the lower place was
 * read first. 0: not known; always in a journal. */
uint64_t output_place(OutputReader *o, uint64_t offset);
/* All of the execution's output before that byte of the stream has been seen in both streams; UINT64_MAX: there is no order. */
uint64_t output_seen(const Execution *x, ExecutionStream stream);

/* A descriptor for the caller to close, and where the bytes are in that file, if they are in one piece: for the kernel to
 * send. Keep the reader meanwhile. -ENXIO: they are not. */
int output_piece(OutputReader *o, uint64_t from, uint64_t to, uint64_t *ret_position);
