// Bundles a module of the pages with the packages that it imports, and prints their names: node bundle.mjs NODE_MODULES ENTRY OUT

import { pathToFileURL } from "node:url";

const [packages, entry, out] = process.argv.slice(2);
const { build } = await import(pathToFileURL(`${packages}/esbuild/lib/main.js`).href);
const how = { bundle: true, format: "esm", minify: true, target: "es2022", legalComments: "none", metafile: true };
const { metafile } = await build({ entryPoints: [entry], outfile: out, nodePaths: [packages], ...how });
const names = Object.keys(metafile.inputs).map((path) => path.match(/.*node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1]).filter(Boolean);
console.log(JSON.stringify([...new Set(names)].sort()));
