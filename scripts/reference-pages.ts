// Writes docs/reference from the code. With --check it writes nothing and fails if a page differs.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { root } from "./public-entries.ts";
import { referencePages } from "./reference/pages.ts";

const folder = `${root}/docs/reference`;
const pages = referencePages();
const different = [...pages].filter(
  ([name, text]) => !existsSync(`${folder}/${name}`) || readFileSync(`${folder}/${name}`, "utf8") !== text,
);
if (!process.argv.includes("--check")) {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of different) writeFileSync(`${folder}/${name}`, text);
  console.log(`wrote ${different.length} of ${pages.size} pages to docs/reference/`);
} else if (different.length > 0) {
  console.error(
    `The code says something else than ${different.map(([name]) => `docs/reference/${name}`).join(", ")}: run npm run reference`,
  );
  process.exitCode = 1;
} else {
  console.log(`${pages.size} reference pages agree with the code`);
}
