import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { catalogue } from "../../packages/stepfold/src/core/errors/catalogue.ts";
import { defaultLimits } from "../../packages/stepfold/src/core/values/limits.ts";
import { arrayCallbacks } from "../../packages/stepfold/src/expressions/functions/array-callbacks.ts";
import { arrayMethods } from "../../packages/stepfold/src/expressions/functions/array-methods.ts";
import { extraAlone, extraMethods, extraNamespaces } from "../../packages/stepfold/src/expressions/functions/extra-functions.ts";
import { functions, namespaces } from "../../packages/stepfold/src/expressions/functions/functions.ts";
import { numberMethods } from "../../packages/stepfold/src/expressions/functions/number-methods.ts";
import { textMethods } from "../../packages/stepfold/src/expressions/functions/text-methods.ts";
import { builtinNodes } from "../../packages/stepfold/src/nodes/index.ts";
import { root } from "../public-entries.ts";
import { exampleData, expressionExamples, expressionForms } from "./expression-examples.ts";
import { httpMembers } from "./http-members.ts";
import { docAbove, membersOf } from "./source-docs.ts";

const note = "<!-- written by npm run reference -->";
const read = (path: string): string => readFileSync(`${root}/packages/${path}`, "utf8");
const page = (title: string, ...parts: readonly string[]): string => `# ${title}\n\n${note}\n\n${parts.join("\n\n")}\n`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");

/** Returns the text of each reference page, by file name. */
export function referencePages(): ReadonlyMap<string, string> {
  return new Map([
    ["node-types.md", nodeTypes()],
    ["expressions.md", expressions()],
    ["command-line.md", commandLine()],
    ["configuration.md", configuration()],
    ["limits.md", limits()],
    ["error-codes.md", errorCodes()],
  ]);
}

function nodeTypes(): string {
  const sections = Object.keys(builtinNodes).map((type) => {
    const { description } = (builtinNodes[type as keyof typeof builtinNodes].metadata ?? {}) as { readonly description?: string };
    return `## \`${type}\`\n\n${description ? `*${description}.*\n\n` : ""}${docAbove(read(`stepfold/src/nodes/${kebab(type)}.ts`), `export const ${type}Node`)}`;
  });
  const examples = ["http-read", "http-send"].map((name) => {
    return `\`\`\`ts\n${readFileSync(`${root}/scripts/reference/examples/${name}.ts`, "utf8")}\`\`\``;
  });
  const http = [
    `## \`http\`\n\n${docAbove(read("stepfold/src/nodes/http/http-node.ts"), "export function httpNode")}`,
    table(["data", "what it may be", "default", "meaning"], httpMembers()),
    "A call whose answer may be that there is nothing:",
    examples[0]!,
    "A call that has an effect, which counts once however often it is made:",
    examples[1]!,
  ];
  return page(
    "Node types",
    "What a node can be, beside [types of your own](../../packages/stepfold/src/engine/node/define-node.ts). Every node also takes `retryPolicy`, `timeout`, `join`, `compensate` and the other keys of a node.",
    ...sections,
    ...http,
  );
}

/** Converts a name to a file name: `sendSignal` to `send-signal`. */
function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function expressions(): string {
  const names = (map: ReadonlyMap<string, unknown>): string => [...map.keys()].map((name) => `\`${name}\``).join(" ");
  return page(
    "Expressions",
    docAbove(read("stepfold/src/expressions/compile-template.ts"), "export const compileTemplate"),
    `## What can be read\n\n${table(["name", "what it is"], readable)}`,
    `## Examples\n\nOver this data:\n\n\`\`\`json\n${exampleData}\n\`\`\`\n\n${["| expression | gives |", "| --- | --- |", ...expressionExamples()].join("\n")}`,
    "## Ways to write",
    expressionForms,
    `## Functions\n\n${table(
      ["of", "names"],
      [
        ["alone", names(functions)],
        ...[...namespaces].map(([name, map]) => [`\`${name}\``, names(map)]),
        ["text", names(textMethods)],
        ["numbers", names(numberMethods)],
        ["lists", `${names(arrayMethods)} ${names(arrayCallbacks)}`],
        ["alone, loaded when needed", names(new Map([...extraAlone].map((name) => [name, null])))],
        ...[...extraNamespaces].map(([name, own]) => [`\`${name}\`, loaded when needed`, own.map((one) => `\`${one}\``).join(" ")]),
        ["values, loaded when needed", [...extraMethods].map((name) => `\`${name}\``).join(" ")],
      ],
    )}`,
    docAbove(read("stepfold/src/expressions/load-functions.ts"), "export async function loadFunctions"),
    "They are JavaScript's functions of the same names, over plain data: no prototypes, no `this`, no assignment, `==` compares as `===`. What an expression costs is counted, and ends at the limit [`expressionSteps`](limits.md).",
  );
}

/** What expressions can read. */
const readable: readonly (readonly [string, string])[] = [
  ["`input`", "the input of the workflow; in a sub-workflow or an item of a map, what that was given"],
  ["`$json`", "the output of the node before; behind an edge `error` the error: `name`, `message`, `code`, `nodeId`, `details`, `cause`"],
  ["`nodes.ID.last`, `nodes.ID.all`", "what a node produced the last time; each time, as a list. The members are:"],
  ["`.data`", "its output; if it has failed, the error as `$json` has it behind the edge `error`: `{{ nodes.charge.last.data.code }}`"],
  ["`.error`", "**a text**: the message of the error, if it has failed. It has no members: `.error.message` is undefined"],
  ["`.handle`", "the handle by which it was left"],
  ["`vars.NAME`", "a [variable](../guides/variables.md)"],
  ["`metadata`, `globals`", "those of the execution; what the engine or the runtime was given for secrets and clients"],
  ["`$now`", "the recorded time, in ISO 8601"],
  ["`item`, `index`, `inputs`", "where a map or a join gives them"],
  ["`execution`", "`.id`, `.workflow`, `.startedAt`, and `.input`: what the execution was started with, also in its children"],
  ["`execution.end`", "in nodes that run at the end (`finally`): `.status`, `.output` and `.error`"],
  ["`attempt`", "in what a step is given"],
  ["`error`", "in `retryIf`"],
  ["`paths`", "in `when`"],
  ["`results`, `total`, `done`, `failed`", "in `completeWhen`"],
  ["`current`, `value`", "in a reducer"],
];

function commandLine(): string {
  const help = (...args: readonly string[]): string =>
    execFileSync(process.execPath, [`${root}/packages/cli/bin/stepfold.js`, ...args, "--help"], {
      encoding: "utf8",
      env: { ...process.env, NO_COLOR: "1", COLUMNS: "100", npm_config_user_agent: "" },
    }).trimEnd();
  const main = help();
  const commands = Array.from(main.matchAll(/^ {2}([a-z]+)(?: |$)/gm), ([, name]) => name!).filter((name) => name !== "help");
  const sections = commands.map((name) => `## \`stepfold ${name}\`\n\n\`\`\`text\n${help(name)}\n\`\`\``);
  return page("Command line", "`npm install @stepfold/cli`, then:", `\`\`\`text\n${main}\n\`\`\``, ...sections);
}

function configuration(): string {
  const source = read("cli/src/config/config.ts");
  return page(
    "Configuration",
    "`stepfold.config.ts` (or `.js`, `.mjs`) in the folder where the command runs, or the file that `--config` names. A config is code: none is read from anywhere else, nor if it belongs to another user.",
    docAbove(source, "export function defineConfig"),
    table(
      ["setting", "what it says"],
      membersOf(source, "StepfoldConfig<D extends NodeDefinitions = NodeDefinitions>").map(({ name, about }) => [`\`${name}\``, about]),
    ),
  );
}

function limits(): string {
  const rows = membersOf(read("stepfold/src/core/values/limits.ts"), "Limits").map(({ name, about }) => [
    `\`${name}\``,
    defaultLimits[name as keyof typeof defaultLimits].toLocaleString("en"),
    about,
  ]);
  return page(
    "Limits",
    "Set with `limits: { ... }` of `WorkflowEngine`, `createRuntime` or the config. What passes one fails with `LIMIT_EXCEEDED`, `STEPS_EXCEEDED` or `DEFINITION_INVALID`; what was stored before always loads.",
    table(["limit", "default", "of what"], rows),
  );
}

/** Returns a stand-in for any detail of an error, whatever its message does with the detail. */
function placeholder(name: string): unknown {
  const text = `<${name}>`;
  return new Proxy(() => text, {
    get: (_, key) => {
      if (key === Symbol.toPrimitive || key === "toString" || key === "valueOf" || key === "join") return () => text;
      if (key === "length") return 1;
      if (key === Symbol.iterator) return [][Symbol.iterator];
      return placeholder(name);
    },
    apply: () => placeholder(name),
  });
}

function errorCodes(): string {
  const details = new Proxy({}, { get: (_, key) => placeholder(String(key)) });
  const rows = Object.entries(catalogue).map(([code, { status, retryable, say }]) => {
    const message = (say as (details: unknown) => string)(details)
      .replace(/\s*\n\s*/g, " ")
      .replace("<position>1", "<position>");
    return [`\`${code}\``, String(status), retryable ? "yes" : "", message.replaceAll("|", "\\|").replaceAll("<", "&lt;")];
  });
  return page(
    "Error codes",
    "Every error is a `StepfoldError` with a `code` that stays, typed `details`, an HTTP `status` that fits, and `retryable`: whether the same call may succeed if simply made again. [Errors of a call](../guides/failures.md#errors-of-a-call) shows how to catch one.",
    table(["code", "status", "retryable", "message"], rows),
  );
}
