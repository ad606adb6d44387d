// Drives memory-mcp over stdio with the TypeScript clients of MCP.
//
//   node drive.mjs legacy|modern|first COMMAND [ARGUMENT...]
//
// legacy and modern: @modelcontextprotocol/client in the handshake era and in the 2026-07-28 era;
// first: @modelcontextprotocol/sdk, the first TypeScript client. The home is MEMORY_MCP_HOME: use
// an empty one. Prints one line of JSON for each step; ends with 1 at the first step that fails.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const [era, command, ...args] = process.argv.slice(2);
const home = process.env.MEMORY_MCP_HOME;
assert(["legacy", "modern", "first"].includes(era), `unknown era ${era}`);
assert(command && home, "give a command, and an empty home in MEMORY_MCP_HOME");

const SECONDS = 5;
const TOOLS = [
  "memory_search", "memory_get", "memory_list", "memory_recall", "memory_write",
  "memory_edit", "memory_delete", "memory_link", "memory_save", "memory_jobs",
];
const FIRST_TEXT = "# Ferry\n\nThe last ferry to Hven leaves at 18:40.\n";
const file = join(home, "agents", "default", "memory", "ferry.md");

const changed = { listing: 0, notes: [] };
const client = await connect();
const call = async (name, input) => client.callTool({ name, arguments: input });
const done = async (name, input) => {
  const result = await call(name, input);
  assert(!result.isError, `${name} failed: ${text(result)}`);
  assert(result.structuredContent, `${name} has no structured content`);
  return result.structuredContent;
};

const steps = {
  async handshake() {
    assert.equal(client.getServerVersion().name, "memory-mcp");
    assert.match(client.getInstructions(), /memory_search/);
    const capabilities = client.getServerCapabilities();
    assert(capabilities.resources.listChanged && capabilities.resources.subscribe);
  },
  async tools() {
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map((tool) => tool.name), TOOLS);
    assert(tools.every((tool) => tool.description && tool.outputSchema && tool.annotations));
  },
  async write() {
    const out = await done("memory_write", {
      slug: "ferry", content: FIRST_TEXT, frontmatter: { tags: ["travel"] },
    });
    assert.equal(out.reference, "memory/ferry");
    assert.equal(out.created, true);
    assert(existsSync(file));
  },
  async search() {
    const out = await done("memory_search", { query: "last ferry to Hven" });
    assert.equal(out.hits[0].reference, "memory/ferry");
    assert.match(out.hits[0].passages[0].text, /18:40/);
  },
  async get() {
    const result = await call("memory_get", { reference: "memory/ferry" });
    const note = result.structuredContent;
    assert.equal(note.content, readFileSync(file, "utf8"));
    assert.deepEqual(note.tags, ["travel"]);
    assert.equal(text(result).split("<MEMORY[memory/ferry]").length, 2);
    state.revision = note.revision;
  },
  async resources() {
    const { resources } = await client.listResources();
    const uris = resources.map((resource) => resource.uri);
    assert(uris.includes("memories://index") && uris.includes("memories://note/memory/ferry"));
    const read = await client.readResource({ uri: "memories://note/memory/ferry" });
    assert.match(read.contents[0].text, /18:40/);
    await subscribe("memories://note/memory/ferry");
  },
  async edit() {
    const out = await done("memory_edit", {
      slug: "ferry", old_text: "18:40", new_text: "19:10", if_revision: state.revision,
    });
    assert.notEqual(out.revision, state.revision);
    assert.equal(out.replaced_revision, state.revision);
    assert.match(readFileSync(file, "utf8"), /19:10/);
  },
  async notice() {
    const told = () => changed.notes.includes("memories://note/memory/ferry");
    assert(await until(told), "no notice of the changed note");
  },
  async conflict() {
    const result = await call("memory_edit", {
      slug: "ferry", append: "Bring cash.", if_revision: state.revision,
    });
    assert.equal(result.isError, true);
    assert.match(text(result), /19:10|changed|conflict/i);
    assert.doesNotMatch(readFileSync(file, "utf8"), /cash/);
  },
  async delete() {
    const out = await done("memory_delete", { slug: "ferry" });
    assert.equal(out.deleted, true);
    assert(!existsSync(file));
    const { hits } = await done("memory_search", { query: "last ferry to Hven" });
    assert.deepEqual(hits, []);
    assert(await until(() => changed.listing > 0), "no notice of the changed list");
    state.deleted = out.revision;
  },
  async restore() {
    execFileSync(command, [...args, "restore", "memory/ferry", state.deleted]);
    assert.match(readFileSync(file, "utf8"), /19:10/);
    const found = async () =>
      (await done("memory_search", { query: "last ferry to Hven" })).hits.length > 0;
    assert(await until(found), "the restored note is not found");
  },
  async refusals() {
    const wrong = await call("memory_search", { query: "ferry", max_results: 2 });
    assert.equal(wrong.isError, true);
    assert.match(text(wrong), /limit/);
    await assert.rejects(client.readResource({ uri: "memories://note/memory/none" }), (error) => {
      // 2.x shows the newer code in both eras; the first client shows what came over the wire
      assert.equal(error.code, era === "first" ? -32002 : -32602);
      return true;
    });
  },
};

const state = {};
let failed = false;
for (const [step, run] of Object.entries(steps)) {
  try {
    await run();
    console.log(JSON.stringify({ step, ok: true }));
  } catch (error) {
    console.log(JSON.stringify({ step, ok: false, error: String(error?.message ?? error) }));
    failed = true;
    break;
  }
}
await client.close();
process.exit(failed ? 1 : 0);

async function connect() {
  const first = era === "first";
  const { Client } = first
    ? await import("@modelcontextprotocol/sdk/client/index.js")
    : await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = first
    ? await import("@modelcontextprotocol/sdk/client/stdio.js")
    : await import("@modelcontextprotocol/client/stdio");
  const options = era === "modern" ? { versionNegotiation: { mode: "auto" } } : {};
  const made = new Client({ name: "typescript", version: "1.0.0" }, options);
  await listen(made, first);
  const transport = new StdioClientTransport({
    command, args, env: { ...process.env }, stderr: "inherit",
  });
  await made.connect(transport);
  if (era === "modern") assert.equal(made.getNegotiatedProtocolVersion(), "2026-07-28");
  return made;
}

async function listen(made, first) {
  const onList = () => { changed.listing += 1; };
  const onNote = (notification) => { changed.notes.push(notification.params.uri); };
  if (!first) {
    made.setNotificationHandler("notifications/resources/list_changed", onList);
    made.setNotificationHandler("notifications/resources/updated", onNote);
    return;
  }
  const types = await import("@modelcontextprotocol/sdk/types.js");
  made.setNotificationHandler(types.ResourceListChangedNotificationSchema, onList);
  made.setNotificationHandler(types.ResourceUpdatedNotificationSchema, onNote);
}

async function subscribe(uri) {
  if (era === "modern") {
    await client.listen({ resourcesListChanged: true, resourceSubscriptions: [uri] });
  } else {
    await client.subscribeResource({ uri });
  }
}

async function until(holds) {
  const end = Date.now() + SECONDS * 1000;
  while (Date.now() < end) {
    if (await holds()) return true;
    await new Promise((go) => setTimeout(go, 50));
  }
  return false;
}

function text(result) {
  return result.content.map((block) => block.text ?? "").join("\n");
}
