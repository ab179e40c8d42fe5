import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { library, root } from "./public-entries.ts";
import { servicesFolder } from "./servers/services-folder.ts";

// Compiles the recipes of docs/run/recipes.md against the SDKs that they name: npm run recipes. The SDKs take half a gigabyte, so they
// are not dependencies of the repository; this script installs them into the folder of services.

const sdks = ["@temporalio/workflow@1.24.0", "workflow@4.8.9", "inngest@4.24.0", "@upstash/workflow@1.3.3"];
const folder = join(servicesFolder(), "recipes");

const page = readFileSync(join(root, "docs/run/recipes.md"), "utf8");
const recipes = [...page.matchAll(/```typescript\n([\s\S]*?)```/g)].map(([, code = ""]) => code);
for (const sdk of sdks) {
  const [, name = "", version = ""] = /^(.+)@(.+)$/.exec(sdk)!;
  if (!page.includes(`${name} ${version}`)) throw new RangeError(`docs/run/recipes.md does not name ${name} ${version}`);
}

mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "recipes", private: true, type: "module" }));
execFileSync("npm", ["install", "--ignore-scripts", "--no-save", "--no-audit", "--no-fund", ...sdks], { cwd: folder, stdio: "inherit" });
rmSync(join(folder, "node_modules/stepfold"), { recursive: true, force: true });
symlinkSync(library, join(folder, "node_modules/stepfold"));
writeFileSync(join(folder, "app.ts"), 'import type { Guest } from "stepfold/guest";\nexport declare const guest: Guest;\n');
for (const [i, code] of recipes.entries()) writeFileSync(join(folder, `recipe-${i}.ts`), code);
const compilerOptions = {
  ...{ module: "nodenext", target: "es2023", lib: ["es2023", "dom", "esnext.disposable"], types: [], skipLibCheck: true },
  ...{ strict: true, noEmit: true, allowImportingTsExtensions: true },
};
writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", folder], { stdio: "inherit" });
console.log(`${recipes.length} recipes compile`);
