// Removes the output of the build, also of deleted sources.
import { readdirSync, rmSync } from "node:fs";
import { root } from "./public-entries.ts";

for (const name of readdirSync(`${root}/packages`)) rmSync(`${root}/packages/${name}/dist`, { recursive: true, force: true });
