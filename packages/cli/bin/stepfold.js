#!/usr/bin/env node
import module from "node:module";

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  console.error(`stepfold needs Node.js 22.18 or later; this is ${process.versions.node}`);
  process.exit(2);
}

// SQLite and type stripping are "experimental" in some of the versions we support: no news for whoever runs a workflow
const silent = new Set(["ExperimentalWarning", "MODULE_TYPELESS_PACKAGE_JSON"]);
process.removeAllListeners("warning");
process.on("warning", (warning) => {
  if (!silent.has(warning.name) && !silent.has(warning.code)) console.error(`${warning.name}: ${warning.message}`);
});

// keeps compiled code in the system's folder for temporary files, so that the next start is quicker; NODE_DISABLE_COMPILE_CACHE=1 turns it off
module.enableCompileCache?.();

const { main } = await import("../dist/main.js");
process.exit(await main(process.argv.slice(2)));
