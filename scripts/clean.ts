// Removes the output of the build, also of deleted sources.
import { readdirSync, rmSync } from "node:fs";
import { library, root } from "./public-entries.ts";

for (const name of readdirSync(`${root}/packages`)) rmSync(`${root}/packages/${name}/dist`, { recursive: true, force: true });
for (const name of ["README.md", "ARCHITECTURE.md", "docs"]) rmSync(`${library}/${name}`, { recursive: true, force: true });
