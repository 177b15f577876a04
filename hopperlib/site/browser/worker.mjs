// Python in a worker: starts Pyodide, unpacks the models, and answers one call after the other.
//
// in   { id, name, values }   values as JSON text
// out  { id, answer }         JSON text of `answer_json`
//      { id, failure }        the models raised an error: a defect of theirs
//      { ready, milliseconds }
//      { broken }             Python cannot start, or has died

import { packageZip } from "./package.mjs";

const HOME = new URL("./", import.meta.url);
const PYODIDE = new URL("pyodide/", HOME);
const MODELS = "/models";

let answerJson;

/** Reject if a file is not there; never resolve. Pyodide itself would wait for ever. */
function missingFile() {
  const files = ["pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip"].map((name) => new URL(name, PYODIDE));
  return new Promise((_, reject) => {
    for (const file of files) {
      fetch(file, { method: "HEAD" }).then(
        (reply) => reply.ok || reject(new Error(`${file.pathname.split("/").pop()} is missing (${reply.status})`)),
        () => reject(new Error(`${file.pathname.split("/").pop()} cannot be reached`)),
      );
    }
    self.addEventListener("unhandledrejection", (event) => reject(event.reason));
  });
}

async function models() {
  const reply = await fetch(new URL(packageZip, HOME));
  if (!reply.ok) throw new Error(`${packageZip} is missing (${reply.status})`);
  return reply.arrayBuffer();
}

async function start() {
  const begun = performance.now();
  const zip = models();
  zip.catch(() => {});
  const { loadPyodide } = await import(new URL("pyodide.mjs", PYODIDE).href);
  const python = await Promise.race([loadPyodide({ indexURL: PYODIDE.href, packages: [] }), missingFile()]);
  python.unpackArchive(await zip, "zip", { extractDir: MODELS });
  python.runPython(`import sys; sys.path.insert(0, "${MODELS}")`);
  answerJson = python.pyimport("hopperlib.render.answer").answer_json;
  self.postMessage({ ready: true, milliseconds: performance.now() - begun });
}

const started = start();
started.catch((error) => self.postMessage({ broken: error.message || String(error) }));

self.onmessage = async ({ data: { id, name, values } }) => {
  try {
    await started;
  } catch {
    return;
  }
  try {
    self.postMessage({ id, answer: answerJson(name, values) });
  } catch (error) {
    if (error.name === "PythonError") self.postMessage({ id, failure: error.message });
    else self.postMessage({ broken: error.message || String(error) });
  }
};
