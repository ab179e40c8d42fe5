import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { type NodeDefinitions, StepfoldError, untyped, type WorkflowDefinition } from "stepfold";
import { BadInput } from "../bad-input.ts";
import { namePath } from "../name-path.ts";
import { printable } from "../text/printable.ts";
import type { LoadedConfig } from "./config.ts";
import { findOwnPackages } from "./own-packages.ts";

/** The settings that a config may have. */
const keys = ["nodeDefinitions", "globals", "secrets", "workflows", "limits", "schedules", "queue", "feed"];

/** Loads a config and checks its settings; without a path, the config is empty. @throws BadInput `CONFIG_FAILED`, `CONFIG_INVALID` */
export async function loadConfig(path: string | null): Promise<LoadedConfig> {
  if (path === null) return {};
  findOwnPackages();
  const name = namePath(path);
  let module: { readonly default?: unknown };
  try {
    module = (await import(pathToFileURL(path).href)) as { default?: unknown };
  } catch (cause) {
    throw configFailed(`${name} cannot be loaded`, cause, path);
  }
  if (module.default === undefined)
    throw new BadInput("CONFIG_INVALID", `${name} has no default export`, {
      hint: 'Write: export default defineConfig({ nodeDefinitions: { … } }), with defineConfig from "@stepfold/cli"',
    });
  return checked(module.default, name);
}

/** Whether a file failed because Node.js reads it as CommonJS, which has no `import` and `export`. */
function isCommonJs(cause: unknown, path: string): boolean {
  const message = cause instanceof SyntaxError ? cause.message : "";
  return /\.[jt]s$/.test(path) && /import statement outside a module|Unexpected token 'export'/.test(message);
}

/** Makes the error for a failure in the code of a config. It shows the message and the line, never the whole stack. */
export function configFailed(what: string, cause: unknown, path: string): BadInput {
  const message = printable(cause instanceof Error ? `${cause.name}: ${cause.message.split("\n")[0]}` : String(cause), 160);
  const place = cause instanceof Error ? new RegExp(`${path.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}:(\\d+)`).exec(cause.stack ?? "") : null;
  return new BadInput("CONFIG_FAILED", `${what}${place ? ` (line ${place[1]})` : ""}: ${message}`, {
    hint: isCommonJs(cause, path)
      ? `The package.json of this folder says "type": "commonjs", as npm init writes it. Rename the config to ${basename(path).replace(/\.(t|j)s$/, ".m$1s")}, or set "type": "module"`
      : "Set STEPFOLD_DEBUG=1 to see where it comes from",
    cause,
  });
}

function checked(value: unknown, name: string): LoadedConfig {
  const invalid = (message: string): BadInput => new BadInput("CONFIG_INVALID", `${name}: ${message}`);
  if (!isObject(value)) throw invalid("the default export must be an object, made with defineConfig");
  const unknown = Object.keys(value).find((key) => !keys.includes(key));
  if (unknown !== undefined) throw invalid(`there is no setting "${unknown}"; there are ${keys.join(", ")}`);
  const { nodeDefinitions = {}, workflows = [], secrets = [], limits = {}, schedules = {} } = value;
  if (!isObject(nodeDefinitions)) throw invalid("nodeDefinitions must be an object: your node types by name");
  for (const [type, definition] of Object.entries(nodeDefinitions)) {
    if (!isObject(definition) || typeof definition.executor !== "function")
      throw invalid(`nodeDefinitions.${type} must be a node definition, made with defineNode: it has no executor`);
  }
  if (!Array.isArray(workflows)) throw invalid("workflows must be a list of workflow definitions, and of what defineDurable has made");
  if (!Array.isArray(secrets) || !secrets.every((path) => typeof path === "string"))
    throw invalid("secrets must be a list of paths into globals, such as mail.password");
  if (!isObject(limits)) throw invalid("limits must be an object");
  if (!isObject(schedules)) throw invalid("schedules must be an object: your schedules by name");
  const { queue = null, feed = null } = value;
  if (queue !== null && typeof queue !== "function" && !(isObject(queue) && typeof queue.send === "function"))
    throw invalid("queue must be a queue, such as bullmqQueue(…), or a function that gives one");
  if (feed !== null && typeof feed !== "function" && !(isObject(feed) && typeof feed.publish === "function"))
    throw invalid("feed must be a feed, such as postgresFeed(…), or a function that gives one");
  return plain(value, workflows, nodeDefinitions as NodeDefinitions, invalid);
}

/** Takes the workflows that bring their node types apart, so that commands see definitions as those of files. */
function plain(
  config: LoadedConfig,
  typed: readonly unknown[],
  given: NodeDefinitions,
  invalid: (message: string) => BadInput,
): LoadedConfig {
  try {
    const { workflows, nodeDefinitions } = untyped(typed, given);
    return { ...config, workflows: workflows as readonly WorkflowDefinition[], nodeDefinitions };
  } catch (error) {
    throw StepfoldError.is(error, "OPTION_INVALID") ? invalid(error.message) : error;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
