// Writes api/<entry>.txt with every public name and its type, so that reviews show each change of the API. With --check it writes
// nothing and fails if a report differs.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { declarationOf, readDeclarations } from "./api/declaration-file.ts";
import { type PublicEntry, publicEntries, reportedPackages, root } from "./public-entries.ts";

const folder = `${root}/api`;
const reports = new Map(
  reportedPackages.flatMap((home) => publicEntries(home).map((entry) => [reportName(entry), report(entry, home)] as const)),
);
const written = existsSync(folder) ? readdirSync(folder) : [];

if (process.argv.includes("--check")) {
  const names = new Set([...reports.keys(), ...written]);
  const different = [...names].filter(
    (name) => reports.get(name) !== (written.includes(name) ? readFileSync(`${folder}/${name}`, "utf8") : undefined),
  );
  if (different.length > 0) {
    console.error(`The public API differs from ${different.map((name) => `api/${name}`).join(", ")}.`);
    console.error("If that is intended, run npm run api and commit the reports; the difference is what reviewers read.");
    process.exit(1);
  }
  console.log(`${reports.size} reports agree with the built types`);
} else {
  mkdirSync(folder, { recursive: true });
  for (const name of written) if (!reports.has(name)) rmSync(`${folder}/${name}`);
  for (const [name, text] of reports) writeFileSync(`${folder}/${name}`, text);
  console.log(`wrote ${reports.size} reports to api/`);
}

/** Returns the file name of a report: `stores-sqlite.txt` for `stepfold/stores/sqlite`, `stepfold.txt` for `stepfold`. */
function reportName({ name }: PublicEntry): string {
  return `${name.replace(/^@?stepfold\//, "").replaceAll("/", "-")}.txt`;
}

function report({ name, types }: PublicEntry, home: string): string {
  const file = `${home}/${types.slice(2)}`;
  const names = [...readDeclarations(file).exported.keys()].sort();
  return `${[`// ${name}`, ...names.map((one) => named(one, declarationOf(file, one)))].join("\n\n")}\n`;
}

/** Returns a declaration. If it is exported under another name, a comment says so. */
function named(name: string, declaration: string): string {
  return new RegExp(`\\b${name.replace("$", "\\$")}\\b`).test(declaration.split("\n")[0] ?? "")
    ? declaration
    : `// as ${name}\n${declaration}`;
}
