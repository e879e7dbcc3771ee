/* Streams and events, for backend.c: functions of its tdm_backend. */
#ifndef TANDEM_HIP_HOST_STREAM_H
#define TANDEM_HIP_HOST_STREAM_H

#include "src/core/context.h"

tdm_status tdm_hip_stream_open(const tdm_context *context, void **stream);
tdm_status tdm_hip_stream_close(const tdm_context *context, void *stream);
tdm_status tdm_hip_stream_sync(const tdm_context *context, void *stream);
tdm_status tdm_hip_stream_wrap(const tdm_context *context, void *native);
tdm_status tdm_hip_stream_captures(const tdm_context *context, const char *what, void *stream, bool *yes);

extern const tdm_serializer tdm_hip_serializer;
extern const tdm_marks tdm_hip_marks;

#endif
