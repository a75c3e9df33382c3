"""An agent for tests: it does what the message says, well or badly."""

import json
import os
import sys
import time

cancelled = False
asked = 0


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def hear():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def update(**fields):
    send({"method": "session/update", "params": {"sessionId": session, "update": fields}})


def say(text, kind="agent_message_chunk"):
    update(sessionUpdate=kind, content={"type": "text", "text": text})


def ask(method, **params):
    """Asks the client and waits for the answer; a cancel may come first."""
    global asked, cancelled
    asked += 1
    send({"id": f"q{asked}", "method": method, "params": {"sessionId": session, **params}})
    while True:
        message = hear()
        if message.get("method") == "session/cancel":
            cancelled = True
        elif message.get("id") == f"q{asked}":
            return message.get("result", message.get("error"))


def await_cancel():
    while hear().get("method") != "session/cancel":
        pass


def leave(call, kind="edit", options=("allow_once", "reject_once"), **fields):
    named = [{"optionId": f"id-{it}", "name": it.replace("_", " "), "kind": it} for it in options]
    about = {"toolCallId": call, "title": f"Doing {call}", "kind": kind, **fields}
    return ask("session/request_permission", toolCall=about, options=named)


def prompt(text, blocks):
    """Does what it is told; returns why it stopped."""
    word, _, rest = text.partition(" ")
    if word == "say":
        say(rest)
    elif word == "think":
        say(rest, "agent_thought_chunk")
        say("Thought.")
    elif word == "prompt":
        say(json.dumps(blocks))
    elif word == "session":
        say(session)
    elif word == "servers":
        say(json.dumps(servers))
    elif word == "pid":
        say(str(os.getpid()))
    elif word == "child":
        import subprocess

        say(str(subprocess.Popen(["sleep", "1000"]).pid))
    elif word == "plan":
        entries = [{"content": "look", "priority": "high", "status": "in_progress"}]
        update(sessionUpdate="plan", entries=entries)
        entries[0]["status"] = "completed"
        update(sessionUpdate="plan", entries=entries)
        say("Planned.")
    elif word == "leave":
        outcome = leave("c1", options=rest.split(), rawInput={"path": "a"})
        chosen = outcome["outcome"].get("optionId", outcome["outcome"]["outcome"])
        status = "completed" if "allow" in chosen else "failed"
        update(sessionUpdate="tool_call_update", toolCallId="c1", status=status)
        say(chosen)
        if cancelled:
            return "cancelled"
    elif word == "write":
        path, _, content = rest.partition(" ")
        say(json.dumps(ask("fs/write_text_file", path=path, content=content)))
    elif word == "read":
        say(json.dumps(ask("fs/read_text_file", path=rest)))
    elif word == "edit":
        it = json.loads(rest)
        diff = {"type": "diff", "path": it["path"], "oldText": it["old"], "newText": it["new"]}
        outcome = leave("c1", content=[diff])["outcome"]
        for text in it["writes"]:
            say(json.dumps(ask("fs/write_text_file", path=it["path"], content=text)))
        status = "completed" if "allow" in outcome.get("optionId", "") else "failed"
        update(sessionUpdate="tool_call_update", toolCallId="c1", status=status)
    elif word == "run":
        created = ask("terminal/create", **json.loads(rest))
        if "terminalId" not in created:
            say(json.dumps(created))
            return "end_turn"
        exited = ask("terminal/wait_for_exit", **created)
        output = ask("terminal/output", **created)
        ask("terminal/release", **created)
        gone = ask("terminal/output", **created)
        say(json.dumps([exited, output, gone.get("code")]))
    elif word == "kill":
        created = ask("terminal/create", command="echo begun; exec sleep 1000")
        while not ask("terminal/output", **created)["output"]:
            time.sleep(0.01)
        ask("terminal/kill", **created)
        exited = ask("terminal/wait_for_exit", **created)
        say(json.dumps([exited, ask("terminal/output", **created)]))
    elif word == "twice":
        for name in ("t1", "t2"):
            create = {"sessionId": session, "command": rest}
            send({"id": name, "method": "terminal/create", "params": create})
        await_cancel()
        return "cancelled"
    elif word == "abandon":
        ask("terminal/create", command="echo $$ > pid; exec sleep 1000")
        while not os.path.exists("pid") or not open("pid").read():
            time.sleep(0.01)
        say(open("pid").read().strip())
    elif word == "chosen":
        say(f"{modes['currentModeId']} {picked['m']}")
    elif word == "switch":
        update(sessionUpdate="current_mode_update", currentModeId=rest)
        say("Switched.")
    elif word == "cost":
        for amount in rest.split():
            cost = {"amount": float(amount), "currency": "USD"}
            update(sessionUpdate="usage_update", used=1, size=2, cost=cost)
        say("Paid.")
    elif word == "unheard":
        say(json.dumps(ask("unheard/of")))
    elif word == "wait":
        say(rest or "Waiting.")
        await_cancel()
        say("Never heard.")
        return "cancelled"
    elif word == "stubborn":
        say("Waiting.")
        while True:
            time.sleep(1)
    elif word == "crash":
        say("Half an ans")
        print("out of cheese", file=sys.stderr, flush=True)
        os._exit(3)
    elif word == "garbage":
        while True:
            sys.stdout.write("this is no protocol\n")
    elif word == "endless":
        while True:
            sys.stdout.write("x" * 65536)
    elif word == "flood":
        while True:
            say("x" * 65536)
    elif word == "many":
        for number in range(100_000):
            update(sessionUpdate="tool_call", toolCallId=str(number), title="t", kind="read",
                   status="completed")
    elif word == "noise":
        print("a friendly greeting on the wrong channel", flush=True)
        send({"method": "session/update", "params": {"nonsense": True}})
        send({"method": "session/update", "params": {
            "sessionId": "somebody else's", "update": {
                "sessionUpdate": "agent_message_chunk",
                "content": {"type": "text", "text": "not for you"}}}})
        send({"id": 999, "result": {}})
        send({"id": "u1", "method": "unheard/of", "params": {}})
        say("Fine.")
    elif word == "fault":
        raise RuntimeError(rest)
    elif word == "refuse":
        return "refusal"
    else:
        say("ok")
    return "end_turn"


def answer(message):
    global session, cancelled, servers
    method, params = message.get("method"), message.get("params", {})
    if method == "initialize":
        if mode == "mute":
            with open("pid.new", "w") as file:
                file.write(str(os.getpid()))
            os.rename("pid.new", "pid")
            time.sleep(1000)
        load = mode == "loads"
        return {"protocolVersion": 7 if mode == "foreign" else 1,
                "agentCapabilities": {"loadSession": load, "mcpCapabilities": {"http": load}},
                "authMethods": [{"id": "x", "name": "Log in", "description": "run `agent login`"}]}
    if method == "session/new":
        if mode == "signed-out":
            raise PermissionError("Authentication required")
        session = f"s{os.getpid()}"
        servers = params["mcpServers"]
        if mode == "choosy":
            update(sessionUpdate="available_commands_update", availableCommands=[
                {"name": "review", "description": "Looks at changes"}])
            return {"sessionId": session, "modes": modes, "configOptions": options()}
        return {"sessionId": session}
    if method == "session/set_mode":
        modes["currentModeId"] = params["modeId"]
        return {}
    if method == "session/set_config_option":
        picked[params["configId"]] = params["value"]
        return {"configOptions": options()}
    if method == "session/load":
        session = params["sessionId"]
        say("an old word that was heard before")
        return {}
    if method == "session/prompt":
        cancelled = False
        blocks = params["prompt"]
        done = {"stopReason": prompt(blocks[-1]["text"], blocks)}
        if mode == "loads" or mode == "choosy":
            done["usage"] = {"totalTokens": 15, "inputTokens": 5, "outputTokens": 10}
        return done
    return None


def options():
    values = [{"value": it, "name": it.title()} for it in ("small", "big")]
    return [{"id": "m", "name": "Model", "category": "model", "type": "select",
             "currentValue": picked["m"], "options": values}]


picked = {"m": "small"}
modes = {"currentModeId": "ask", "availableModes": [
    {"id": "ask", "name": "Ask"}, {"id": "plan", "name": "Plan"}]}
mode = sys.argv[1] if len(sys.argv) > 1 else ""
session, servers = None, []
while True:
    message = hear()
    if "id" not in message or "method" not in message:
        continue
    try:
        send({"id": message["id"], "result": answer(message)})
    except PermissionError as error:
        send({"id": message["id"], "error": {"code": -32000, "message": str(error)}})
    except RuntimeError as error:
        send({"id": message["id"], "error": {"code": -32603, "message": str(error)}})
