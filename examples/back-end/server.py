# SWITCHBOARD_KEY=w_... SWITCHBOARD_TOKEN=... python3 server.py
import json
import os
import pathlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.error import HTTPError
from urllib.request import Request, urlopen

SWITCHBOARD = os.environ.get("SWITCHBOARD_URL", "http://localhost:3000")
PORT = int(os.environ.get("PORT", "4000"))
ORIGIN = f"http://localhost:{PORT}"  # `switchboard keys issue` binds the key to it
PAGE = pathlib.Path(__file__).with_name("page.html").read_bytes()
sessions = {}


def ask(path, body, headers):
    """Posts to Switchboard. A refusal is an answer too: the page shows its userMessage."""
    headers = {"Content-Type": "application/json", **headers}
    try:
        with urlopen(Request(SWITCHBOARD + path, json.dumps(body).encode(), headers), timeout=20) as reply:
            return reply.status, json.load(reply)
    except HTTPError as refusal:
        return refusal.code, json.load(refusal)


class Handler(BaseHTTPRequestHandler):
    user = "ada@example.com"  # replace this with your own login: here everybody is Ada

    def do_GET(self):
        if self.path == "/voice":
            return self.answer(200, {"switchboard": SWITCHBOARD, "email": self.user})
        self.send(200, "text/html; charset=utf-8", PAGE)

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))  # the body is ignored: the page does not decide who the user is
        if self.path == "/voice/session":
            # Creates a session for the user: the page cannot say that it is somebody else.
            body = {"widgetKey": os.environ["SWITCHBOARD_KEY"], "agentId": "guide", "email": self.user}
            # Bot detection needs the headers of the visitor's browser, and refusals are in the visitor's language.
            passed = {name: self.headers.get(name, "") for name in ("User-Agent", "Accept-Language")}
            status, reply = ask("/api/session", body, {"Origin": ORIGIN, **passed})
            if status == 200:
                sessions[self.user] = reply["sm_session_id"]
            self.answer(status, reply)
        elif self.path == "/voice/search":
            # A tool that costs money. The service token proves that the report is ours.
            body = {"sm_session_id": sessions.get(self.user), "tokens": 0, "dollars": 0.005}
            token = {"Authorization": f"Bearer {os.environ['SWITCHBOARD_TOKEN']}"}
            status, reply = ask("/api/auth/usage", body, token)  # 429: it was counted, and the user's daily quota is used up
            self.answer(status, {"found": "The museum opens at ten.", "usage": reply.get("usage")})
        else:
            self.answer(404, {})

    def answer(self, status, body):
        self.send(status, "application/json", json.dumps(body).encode())

    def send(self, status, kind, content):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


server = ThreadingHTTPServer(("127.0.0.1", PORT), Handler)
print(f"Listening at {ORIGIN}", flush=True)
server.serve_forever()
