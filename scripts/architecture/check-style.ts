import type { Finding, SourceFile } from "./source-file.ts";
import type { Violation } from "./violation.ts";

const maxFileLines = 400;
const maxFunctionLines = 60;

/** Files and functions that may be longer, as `path` or `path#function`, each with the reason. */
export type Exceptions = Readonly<Record<string, string>>;

/** Finds files and functions that are too long for a reader to keep in mind. */
export function checkLengths(files: readonly SourceFile[], exceptions: Exceptions = {}): Violation[] {
  const used = new Set<string>();
  const allowed = (key: string): boolean => Object.hasOwn(exceptions, key) && used.add(key) !== undefined;
  const violations: Violation[] = [];
  for (const { path, lines, functions } of files) {
    if (lines > maxFileLines && !allowed(path)) {
      violations.push({ rule: "length", path, message: `${lines} lines, more than ${maxFileLines}` });
    }
    for (const { name, line, lines: length } of functions) {
      if (length <= maxFunctionLines || allowed(`${path}#${name}`)) continue;
      violations.push({ rule: "length", path, line, message: `${name} has ${length} lines, more than ${maxFunctionLines}` });
    }
  }
  for (const key of Object.keys(exceptions)) {
    if (!used.has(key)) violations.push({ rule: "length", path: key, message: "is listed as an exception and is none: remove it" });
  }
  return violations;
}

const instead: Readonly<Record<Finding["what"], string>> = {
  any: "any: say unknown and narrow it",
  "default export": "default export: give it its name",
  eval: "eval or Function: they are off on edge platforms",
  "export *": "export *: list the names",
  "throw new Error": "throw new Error: throw a StepfoldError with a code",
};

/** Reports every use of `any`, bare `Error`, `eval`, and default or star exports. */
export function checkFindings(files: readonly SourceFile[]): Violation[] {
  return files.flatMap(({ path, findings }) => findings.map(({ what, line }) => ({ rule: what, path, line, message: instead[what] })));
}

const dumpingGround = /^(utils?|helpers?|types?|interfaces?|common|misc|shared|base-.*|.*-impl)$/;
const kebabCase = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** Checks the names of files and folders: kebab-case, and no name that says nothing about the contents. */
export function checkNames(files: readonly SourceFile[]): Violation[] {
  return files.flatMap(({ path }) => {
    const names = (path.split("/src/")[1] ?? path).replace(/(\.test|\.test-d|\.worker)?\.tsx?$/, "").split("/");
    const bad = names.find((name) => dumpingGround.test(name) || !kebabCase.test(name));
    return bad === undefined ? [] : [{ rule: "names", path, message: `"${bad}" does not say what is inside, or is not kebab-case` }];
  });
}
