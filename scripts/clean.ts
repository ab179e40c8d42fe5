// Removes what the build wrote, also from sources that are gone.
import { readdirSync, rmSync } from "node:fs";
import { root } from "./public-entries.ts";

for (const name of readdirSync(`${root}/packages`)) rmSync(`${root}/packages/${name}/dist`, { recursive: true, force: true });
