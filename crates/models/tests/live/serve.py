"""Serves a small real model on loopback until its standard input ends."""
import pathlib
import sys

import xllamacpp

weights = next(pathlib.Path(sys.prefix).rglob("SmolLM2-135M-Instruct*.gguf"))
params = xllamacpp.CommonParams()
params.model.path = str(weights)
params.model_alias = {"smollm2"}
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_ctx = 4096
params.use_jinja = True
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
