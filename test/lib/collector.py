"""collector: an OTLP/HTTP receiver for tests. What arrives is decoded by protobuf's own JSON reader against the messages of the
OpenTelemetry protocol (1.x), so that a wrong name, type or form of a field is an error here and not a surprise elsewhere."""

import base64
import gzip
import http.server
import json
import re
import threading

from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

# Of each message: its fields as "name number type"; * in front: repeated; types in capitals are messages. Enums are int32 here:
# the protocol wants them as numbers in JSON.
MESSAGES = {
    "AnyValue": ["string_value 1 string one", "bool_value 2 bool one", "int_value 3 int64 one", "double_value 4 double one"],
    "KeyValue": ["key 1 string", "value 2 AnyValue"],
    "Scope": ["name 1 string", "version 2 string", "*attributes 3 KeyValue"],
    "Resource": ["*attributes 1 KeyValue", "dropped_attributes_count 2 uint32"],
    "Status": ["message 2 string", "code 3 int32"],
    "Span": ["trace_id 1 bytes", "span_id 2 bytes", "trace_state 3 string", "parent_span_id 4 bytes", "flags 16 fixed32", "name 5 string",
             "kind 6 int32", "start_time_unix_nano 7 fixed64", "end_time_unix_nano 8 fixed64", "*attributes 9 KeyValue",
             "dropped_attributes_count 10 uint32", "status 15 Status"],
    "ScopeSpans": ["scope 1 Scope", "*spans 2 Span", "schema_url 3 string"],
    "ResourceSpans": ["resource 1 Resource", "*scope_spans 2 ScopeSpans", "schema_url 3 string"],
    "Traces": ["*resource_spans 1 ResourceSpans"],
    "NumberDataPoint": ["*attributes 7 KeyValue", "start_time_unix_nano 2 fixed64", "time_unix_nano 3 fixed64", "as_double 4 double one",
                        "as_int 6 sfixed64 one", "flags 8 uint32"],
    "HistogramDataPoint": ["*attributes 9 KeyValue", "start_time_unix_nano 2 fixed64", "time_unix_nano 3 fixed64", "count 4 fixed64",
                           "sum 5 double", "*bucket_counts 6 fixed64", "*explicit_bounds 7 double", "min 11 double", "max 12 double"],
    "Gauge": ["*data_points 1 NumberDataPoint"],
    "Sum": ["*data_points 1 NumberDataPoint", "aggregation_temporality 2 int32", "is_monotonic 3 bool"],
    "Histogram": ["*data_points 1 HistogramDataPoint", "aggregation_temporality 2 int32"],
    "Metric": ["name 1 string", "description 2 string", "unit 3 string", "gauge 5 Gauge one", "sum 7 Sum one", "histogram 9 Histogram one"],
    "ScopeMetrics": ["scope 1 Scope", "*metrics 2 Metric", "schema_url 3 string"],
    "ResourceMetrics": ["resource 1 Resource", "*scope_metrics 2 ScopeMetrics", "schema_url 3 string"],
    "Metrics": ["*resource_metrics 1 ResourceMetrics"],
}


def make_types():
    file = descriptor_pb2.FileDescriptorProto(name="otlp.proto", package="otlp", syntax="proto3")
    for message, fields in MESSAGES.items():
        made = file.message_type.add(name=message)
        for line in fields:
            name, number, kind, *one = line.split()
            field = made.field.add(name=name.lstrip("*"), number=int(number), label=3 if name.startswith("*") else 1)
            if kind[0].isupper():
                field.type, field.type_name = field.TYPE_MESSAGE, f".otlp.{kind}"
            else:
                field.type = getattr(field, f"TYPE_{kind.upper()}")
            if one:
                if not made.oneof_decl:
                    made.oneof_decl.add(name="value_or_data")
                field.oneof_index = 0
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {name: message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName(f"otlp.{name}")) for name in MESSAGES}


TYPES = make_types()
IDS = {"traceId": 32, "spanId": 16, "parentSpanId": 16}


def check_forms(node):
    """What protobuf's reader would forgive: 64 bits must be strings, ids hexadecimal (the protocol's own exception from base64)."""
    if isinstance(node, list):
        return [check_forms(item) for item in node]
    if not isinstance(node, dict):
        return node
    for name, value in node.items():
        if name in ("startTimeUnixNano", "endTimeUnixNano", "timeUnixNano", "intValue", "count"):
            assert isinstance(value, str) and re.fullmatch(r"-?\d+", value), (name, value)
        if name == "bucketCounts":
            assert all(isinstance(item, str) for item in value), value
        if name in IDS:
            assert re.fullmatch(f"[0-9a-f]{{{IDS[name]}}}", value) and set(value) != {"0"}, (name, value)
    return {name: base64.b64encode(bytes.fromhex(value)).decode() if name in IDS else check_forms(value) for name, value in node.items()}


def plain(attributes):
    return {a.key: getattr(a.value, a.value.WhichOneof("value_or_data")) for a in attributes}


class Collector:
    def __init__(self, port=0):
        self.spans, self.metrics, self.resources, self.problems, self.headers, self.answers = [], [], [], [], [], []
        self.requests, self.batches = 0, []  # how many spans came at a time
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), type("Handler", (Handler,), {"collector": self}))
        self.server.handle_error = lambda *_: None  # a daemon that is stopped hangs up
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def take(self, path, body):
        document = check_forms(json.loads(body))
        if path == "/v1/traces":
            for resource in json_format.ParseDict(document, TYPES["Traces"]()).resource_spans:
                self.resources.append(plain(resource.resource.attributes))
                spans = [span for scope in resource.scope_spans for span in scope.spans]
                self.batches.append(len(spans))
                self.spans += spans
        elif path == "/v1/metrics":
            for resource in json_format.ParseDict(document, TYPES["Metrics"]()).resource_metrics:
                self.resources.append(plain(resource.resource.attributes))
                self.metrics.append({metric.name: metric for scope in resource.scope_metrics for metric in scope.metrics})
        else:
            raise AssertionError(path)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        told = self.collector
        told.requests += 1
        told.headers.append(dict(self.headers))
        status, answer = told.answers.pop(0) if told.answers else (200, b"{}")
        try:
            assert self.headers["Content-Type"] == "application/json", self.headers["Content-Type"]
            if status == 200:
                told.take(self.path, gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body)
        except Exception as error:  # told to the test, which looks at them
            told.problems.append(f"{self.path}: {error!r}\n{body[:2000]!r}")
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
