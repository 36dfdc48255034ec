"""fastmcp_server.py PORT ORIGIN TOKEN: the same job in FastMCP, one tool made from openapi.json, streamable HTTP."""

import json
import pathlib
import sys

import httpx2 as httpx
from fastmcp import FastMCP

port, origin, token = sys.argv[1:4]
spec = json.loads((pathlib.Path(__file__).parent / "openapi.json").read_text())
client = httpx.AsyncClient(
    base_url=origin,
    headers={"Authorization": f"Bearer {token}"},
    limits=httpx.Limits(max_connections=64, max_keepalive_connections=64),
)
server = FastMCP.from_openapi(openapi_spec=spec, client=client, name="bench")
server.run(transport="http", host="127.0.0.1", port=int(port), show_banner=False, log_level="warning")
