// Python in a worker: starts Pyodide, unpacks the models, and answers one call after the other, of one page or, where
// the browser keeps it from page to page, of all that a reader visits.
//
// It starts from a memory in which the models are imported already, made when the book was built. Where that cannot
// be had or is refused, it starts as Python does, which takes four times as long.
//
// in   { id, name, values, watched }   values as JSON text; whether the machine is watched
//      { id, source, values }          a reader's Python, and its values that are wanted, as JSON text
//      { id, key, what, seconds }      of the machine that came with answer `key`: its "recording" or "links", and when
// out  { id, answer }         JSON text of `answer_json`; of a reader's Python that of `run_json`, and how large
//                             Python's memory is now: `bytes`
//      { id, soFar }          before it, JSON text of what is known of a heavy answer
//      { id, machine }        before and after it, JSON text of the machine to watch
//      { id, beat }           every second or so while an answer is worked out
//      { id, failure }        the models raised an error: a defect of theirs
//      { ready, from }        from: "memory", "scratch", or the "visit" of pages before
//      { broken }             Python cannot start, or has died
//
// in   { end }               of a visit: no page asks any more
//      { left }              a page was left, but another may follow within so many milliseconds

import { memory, memoryBytes, packageZip } from "./package.mjs";

const HOME = new URL("./", import.meta.url);
const PYODIDE = new URL("pyodide/", HOME);
const MODELS = "/models";

let answerJson;
let watchedAt;
let runJson;
let bytesOfMemory;

/**
 * Have each file of Python asked for once: its code is compiled while its memory is on the way, and Pyodide, which asks
 * for it again, is given what was compiled. Return what rejects when one of its files is missing: Pyodide would wait forever.
 */
function compileEarly() {
  const request = self.fetch;
  let missing;
  const lacking = new Promise((_, reject) => (missing = reject));
  lacking.catch(() => {});
  const named = async (address) => {
    const name = new URL(address).pathname.split("/").pop();
    const reply = await request(address).catch(() => missing(new Error(`${name} cannot be reached`)));
    if (reply && !reply.ok) missing(new Error(`${name} is missing (${reply.status})`));
    return reply?.ok ? reply : lacking;
  };
  const code = new URL("pyodide.asm.wasm", PYODIDE).href;
  // A server may send it under another type, which a stream may not be compiled from.
  const compiled = named(code).then(async (reply) =>
    reply.headers.get("content-type")?.startsWith("application/wasm") ? WebAssembly.compileStreaming(reply) : WebAssembly.compile(await reply.arrayBuffer()),
  );
  compiled.catch(missing);
  self.fetch = (address) => (String(address) === code ? Promise.resolve(new Response()) : named(address));
  WebAssembly.instantiateStreaming = async (_, imports) => {
    const module = await compiled;
    return { module, instance: await WebAssembly.instantiate(module, imports) };
  };
  return lacking;
}

/** Reject at what nobody catches, which Pyodide would wait for as well. */
const uncaught = () => new Promise((_, reject) => self.addEventListener("unhandledrejection", ({ reason }) => reject(reason)));

async function bytes(name) {
  const reply = await fetch(new URL(name, HOME));
  if (!reply.ok) throw new Error(`${name} is missing (${reply.status})`);
  return reply.arrayBuffer();
}

/** The memory as it was when the book was built; a server may have unpacked it on the way. */
async function unpacked(name) {
  let content = await bytes(name);
  if (content.byteLength !== memoryBytes) {
    content = await new Response(new Blob([content]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  }
  // Pyodide would wait forever on one that is cut short.
  if (content.byteLength !== memoryBytes) throw new Error(`${name} is damaged`);
  return content;
}

async function start() {
  const zip = bytes(packageZip);
  zip.catch(() => {});
  const content = unpacked(memory);
  content.catch(() => {});
  const lacking = compileEarly();
  const { loadPyodide } = await import(new URL("pyodide.mjs", PYODIDE).href);
  const settings = { indexURL: PYODIDE.href, packages: [] };
  let from = "memory";
  let python;
  try {
    python = await Promise.race([loadPyodide({ ...settings, _loadSnapshot: content }), lacking, uncaught()]);
    // Files are no part of the memory. These are unpacked if one is asked for: see snapshot.mjs.
    python.FS.writeFile(`${MODELS}.zip`, new Uint8Array(await zip));
  } catch {
    from = "scratch";
    python = await Promise.race([loadPyodide(settings), lacking, uncaught()]);
    python.unpackArchive(await zip, "zip", { extractDir: MODELS });
    python.runPython(`import sys; sys.path.insert(0, "${MODELS}")`);
  }
  ({ answer_json: answerJson, run_json: runJson, watched_at: watchedAt } = python.pyimport("hopperbook.live"));
  bytesOfMemory = () => python._module.HEAPU8.byteLength;
  // All is there. A page's policy does not reach into a worker that outlives it: what could ask another host goes.
  for (const name of ["fetch", "XMLHttpRequest", "WebSocket", "WebSocketStream", "WebTransport", "EventSource"]) self[name] = undefined;
  return from;
}

const started = start();
let pages = 0; // that came, and those that are there
let open = 0;
let idle;

/** Answer what comes from a page. */
function serve(page) {
  const first = ++pages === 1;
  open += 1;
  clearTimeout(idle);
  const say = (message) => page.postMessage(message);
  started.then(
    (from) => say({ ready: true, from: first ? from : "visit" }),
    (error) => say({ broken: error.message || String(error) }),
  );
  page.onmessage = async ({ data: { id, name, values, watched, source, key, what, seconds, end, left } }) => {
    if (end) self.close();
    if (left >= 0 && --open === 0) idle = setTimeout(() => self.close(), left);
    try {
      await started;
    } catch {
      return;
    }
    try {
      if (source !== undefined) say({ id, answer: runJson(source, values), bytes: bytesOfMemory() });
      else if (key) say({ id, answer: watchedAt(key, what, seconds) });
      else if (id) answerJson(name, values, (kind, text) => say({ id, [kind]: text }), watched ? id : 0);
    } catch (error) {
      if (error.name === "PythonError") say({ id, failure: error.message });
      else say({ broken: error.message || String(error) });
    }
  };
}

if ("onconnect" in self) self.onconnect = ({ ports: [page] }) => serve(page);
else serve(self);
