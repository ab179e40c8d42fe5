import { readFileSync } from "node:fs";
import { program } from "../../packages/cli/src/program.ts";
import { root } from "../public-entries.ts";

const { scripts, devDependencies } = JSON.parse(readFileSync(`${root}/package.json`, "utf8")) as {
  readonly scripts: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
};
const packages: ReadonlySet<string> = new Set(["stepfold", "@stepfold/cli", ...Object.keys(devDependencies)]);

/** Says what is wrong with commands in the docs: of `stepfold` its verb and options, of `npm` the names of scripts and packages. */
export function wrongCommands(code: string): string[] {
  const commands = code.split("\n").flatMap((line) => line.replace(/(?:^|\s)#.*$/, "").split("&&"));
  return commands.flatMap((command) => {
    // what is quoted is a value, whatever it looks like
    const [first, ...words] = command
      .replace(/'[^']*'|"[^"]*"/g, "value")
      .trim()
      .split(/\s+/);
    if (first === "") return [];
    if (first === "npm") return wrongNpm(words);
    if (first === "stepfold") return wrongVerb(words);
    if (first === "npx" && /^(?:stepfold|@stepfold\/cli)$/.test(words[0] ?? "")) return wrongVerb(words.slice(1));
    return [`${first} is no command that is checked: mark the block as a fragment`];
  });
}

function wrongNpm([verb, ...names]: readonly string[]): string[] {
  if (verb === "install")
    return names.filter((name) => !packages.has(name)).map((name) => `${name} is no package that the repository knows`);
  const script = verb === "run" ? names[0]! : verb!;
  return Object.hasOwn(scripts, script) ? [] : [`package.json has no script ${script}`];
}

function wrongVerb(words: readonly string[]): string[] {
  let command: ReturnType<typeof program> = program(() => undefined);
  const verbs: string[] = [];
  for (const word of words) {
    const next = command.commands.find((one) => one.name() === word);
    if (!next) break;
    verbs.push(word);
    command = next;
  }
  const next = words[verbs.length];
  const isMissing = verbs.length === 0 || (command.commands.length > 0 && next !== undefined && !next.startsWith("-"));
  if (isMissing) return [`stepfold has no command ${[...verbs, next].join(" ")}`];
  const known = command.options.flatMap(({ long, short }) => [long, short]);
  const given = words.filter((word) => word.startsWith("--")).map((word) => word.split("=")[0]!);
  return given.filter((option) => !known.includes(option)).map((option) => `stepfold ${verbs.join(" ")} has no option ${option}`);
}
