# SIGNING_SECRET=whsec_... python3 tool.py
import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# Created with `switchboard secrets signing --tenant ...`.
SECRET = base64.b64decode(os.environ["SIGNING_SECRET"].removeprefix("whsec_"))
PORT = int(os.environ.get("PORT", "5055"))
closed = set()


def is_signed(headers, body):
    """Whether Switchboard has sent this, within the last five minutes. `body` is the raw bytes of the request."""
    try:
        seconds = headers["webhook-timestamp"]
        if abs(time.time() - int(seconds)) > 300:
            return False
        signed = f"{headers['webhook-id']}.{seconds}.".encode() + body
        wanted = b"v1," + base64.b64encode(hmac.new(SECRET, signed, hashlib.sha256).digest())
        # While the secret is being rotated there are two signatures.
        return any(hmac.compare_digest(each.encode(), wanted) for each in headers["webhook-signature"].split(" "))
    except (TypeError, ValueError, AttributeError):
        return False  # a header is missing, or is not a number


def answer(tool, arguments):
    """What the agent is told. A model wrote the arguments, so use data.session and data.context to decide what the visitor may see."""
    order = str(arguments.get("order"))
    if tool == "lookup_order":
        return {"order": order, "state": "closed" if order in closed else "shipped"}
    if tool == "close_order":
        # The model may call again. For what must not happen twice, use a key of your own: here the order.
        closed.add(order)
        # The agent says goodbye, then the session ends.
        return {"order": order, "state": "closed", "switchboard": {"end": {"reason": "order_closed"}}}
    return {"error": "there is no such tool"}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not is_signed(self.headers, body):
            return self.send(401, {})
        data = json.loads(body)["data"]
        self.send(200, answer(data["tool"], data["arguments"]))

    def send(self, status, reply):
        content = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


server = ThreadingHTTPServer(("127.0.0.1", PORT), Handler)
print(f"Listening at http://localhost:{PORT}", flush=True)
server.serve_forever()
