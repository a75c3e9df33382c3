"""The official Python client in the house: both eras, over HTTP and over a pipe."""

import asyncio
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference

BINARY = os.environ["MEGARON_BIN"]
LIMIT = 60


class House:
    """A real server on data of its own."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="megaron-mcp-")
        self.home = pathlib.Path(self.folder.name).resolve()
        self.workspace = self.home / "workspace"
        self.workspace.mkdir()
        (self.workspace / "guests.txt").write_text("Nestor\n")
        command = [BINARY, "serve", "--listen", "127.0.0.1:0", "--no-open", *self.places()]
        self.log = (self.home / "log").open("wb")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.url = self.process.stdout.readline().split()[-1]
        self.key = (self.home / "data" / "key").read_text().strip()

    def places(self):
        return ["--data-dir", str(self.home / "data"), "--workspace", str(self.workspace)]

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.log.close()
        self.folder.cleanup()

    @contextlib.asynccontextmanager
    async def client(self, way, mode):
        if way == "pipe":
            server = StdioServerParameters(command=BINARY, args=["mcp", *self.places()])
            async with Client(server, mode=mode) as client:
                yield client
            return
        headers = {"Authorization": f"Bearer {self.key}"}
        async with httpx2.AsyncClient(headers=headers, timeout=LIMIT) as http:
            server = streamable_http_client(f"{self.url}/mcp", http_client=http)
            async with Client(server, mode=mode) as client:
                yield client


def words(count):
    return " ".join(f"word{n + 1}" for n in range(count))


class Visits(unittest.IsolatedAsyncioTestCase):
    @classmethod
    def setUpClass(cls):
        cls.house = House()

    @classmethod
    def tearDownClass(cls):
        cls.house.end()

    async def each(self, story):
        for way in ("http", "pipe"):
            for mode, version in (("legacy", "2025-11-25"), ("2026-07-28", "2026-07-28")):
                with self.subTest(way=way, mode=mode):
                    async with asyncio.timeout(LIMIT), self.house.client(way, mode) as client:
                        self.assertEqual(client.protocol_version, version)
                        await story(client)

    async def test_an_answer_comes_in_pieces_and_whole(self):
        async def story(client):
            heard = []

            async def progress(done, total, message):
                heard.append((done, total, message))

            result = await client.call_tool("ask_session", {"prompt": "/long 200"}, progress_callback=progress)
            session = result.structured_content["sessionId"]
            expected = {"sessionId": session, "answer": words(200), "outcome": "finished"}
            self.assertEqual(result.structured_content, expected)
            self.assertGreater(len(heard), 3)
            self.assertTrue(words(200).startswith("".join(message for _, _, message in heard)))
            self.assertEqual([done for done, _, _ in heard], list(range(1, len(heard) + 1)))

        await self.each(story)

    async def test_tools_files_and_sessions_are_at_hand(self):
        async def story(client):
            tools = [tool.name for tool in (await client.list_tools()).tools]
            self.assertEqual(tools[0], "ask_session")
            read = await client.call_tool("read_file", {"path": "guests.txt"})
            self.assertIn("Nestor", read.content[0].text)
            uri = f"file://{self.house.workspace}/guests.txt"
            contents = (await client.read_resource(uri)).contents
            self.assertEqual([(it.uri, it.mime_type, it.text) for it in contents], [(uri, "text/plain", "Nestor\n")])
            made = await client.call_tool("create_session", {"name": "A room"})
            session = made.structured_content["sessionId"]
            ref = PromptReference(type="ref/prompt", name="continue-session")
            finished = await client.complete(ref, {"name": "sessionId", "value": session})
            self.assertEqual(finished.completion.values, [session])
            listed = (await client.list_resources()).resources
            self.assertIn(f"megaron://sessions/{session}", [it.uri for it in listed])

        await self.each(story)

    async def test_what_is_wrong_is_said(self):
        async def story(client):
            wrong = await client.call_tool("ask_session", {"prompt": ""})
            self.assertEqual((wrong.is_error, wrong.content[0].text), (True, "`prompt` is empty"))
            with self.assertRaisesRegex(MCPError, "Unknown tool: nothing"):
                await client.call_tool("nothing", {})
            with self.assertRaisesRegex(MCPError, "Resource not found"):
                await client.read_resource("file:///etc/hostname")

        await self.each(story)

    async def test_a_cancelled_call_ends_the_turn(self):
        async def story(client):
            session = (await client.call_tool("create_session", {})).structured_content["sessionId"]
            begun = asyncio.Event()

            async def progress(done, total, message):
                begun.set()

            args = {"sessionId": session, "prompt": "/slow 5\n/long 100000"}
            asking = asyncio.create_task(client.call_tool("ask_session", args, progress_callback=progress))
            await begun.wait()
            asking.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await asking
            rested = await client.call_tool("wait_for_session", {"sessionId": session})
            self.assertFalse(rested.structured_content["busy"])
            said = (await client.read_resource(f"megaron://sessions/{session}")).contents[0].text
            self.assertTrue(said.endswith("\n*The turn was cancelled.*\n"), said[-200:])

        await self.each(story)

    async def test_nobody_gets_in_without_the_key(self):
        async with httpx2.AsyncClient() as http:
            answer = await http.post(f"{self.house.url}/mcp", json={})
            expected = {"error": "Authentication required", "code": "UNAUTHORIZED"}
            self.assertEqual((answer.status_code, answer.json()), (401, expected))


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
