import { targetOf } from "./check-imports.ts";
import type { SourceFile } from "./source-file.ts";
import type { Violation } from "./violation.ts";

/** Finds circles of files that import each other, types included. Each circle is one violation. */
export function checkCycles(files: readonly SourceFile[]): Violation[] {
  const targets = new Map(
    files.map(({ path, imports }) => [
      path,
      imports.map(({ specifier }) => targetOf(path, specifier)).filter((target) => target !== undefined),
    ]),
  );
  const done = new Set<string>();
  const violations: Violation[] = [];

  const walk = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start !== -1) {
      violations.push({ rule: "cycles", path, message: [...trail.slice(start), path].join(" -> ") });
      return;
    }
    if (done.has(path)) return;
    for (const target of targets.get(path) ?? []) walk(target, [...trail, path]);
    done.add(path);
  };
  for (const { path } of files) walk(path, []);
  return violations;
}
