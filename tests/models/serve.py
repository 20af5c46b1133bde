#!/usr/bin/env python3
"""Serves a small model on loopback, in the three wire formats of llama.cpp's own server.

    serve.py MODEL.gguf [PORT] [CONTEXT]

Port 0 (the default) takes a free one. The first line on standard output is {"url": "http://127.0.0.1:PORT"}; it is printed
when the model is loaded and answers. The server ends when its standard input is closed, so it never outlives its test.
"""
import json
import os
import sys
from pathlib import Path

import xllamacpp

TEMPLATE = Path(__file__).with_name("template.jinja")
NAME = "smollm2-135m"


def parameters(model: str, port: int, context: int) -> "xllamacpp.CommonParams":
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = {NAME}
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_ctx = context
    params.n_parallel = 1
    # One thread: the threads spin while they wait for each other, so two on a busy two-core machine are many times slower.
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.use_jinja = True
    params.chat_template = TEMPLATE.read_text()
    params.verbosity = 1
    return params


def main() -> None:
    model = sys.argv[1]
    port = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    context = int(sys.argv[3]) if len(sys.argv) > 3 else 8192
    # llama.cpp writes its log to standard output; that stream belongs to our one line.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    server = xllamacpp.Server(parameters(model, port, context))
    print(json.dumps({"url": server.listening_address}), file=out, flush=True)
    while os.read(0, 4096):
        pass
    os._exit(0)


if __name__ == "__main__":
    main()
