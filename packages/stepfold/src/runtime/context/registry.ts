import type { WorkflowDefinition } from "../../core/definition/definition.ts";
import { withNeeds } from "../../core/definition/needs.ts";
import type { Issue } from "../../core/errors/issue.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { requireUnreserved } from "../../core/values/ids/reserved-ids.ts";
import type { Limits } from "../../core/values/limits.ts";
import type { Rate } from "../../core/values/shared-keys.ts";
import type { NodeDefinitions } from "../../engine/node/node-definition.ts";
import { deniedGlobal } from "../../engine/workflow/global-reads.ts";
import { type Library, libraryOf } from "../../engine/workflow/link-workflows.ts";
import { type PreparedWorkflow, prepareStored, prepareWorkflow } from "../../engine/workflow/prepared-workflow.ts";
import type { ClaimOptions, SnapshotStore } from "../../ports/snapshot-store.ts";
import { type GlobalsFor, globalNamesOf } from "./allowed-globals.ts";
import { minFailoverMs } from "./store/persist.ts";

/** The most nodes of prepared workflows that are kept although no option names the workflows. They take about 70 MB. */
const maxRecentNodes = 20_000;
/** How long a definition counts as stored while its executions run. Before a start that time is shorter: see `ensureStored`. */
const keptWhileUsedMs = 30_000;
/** The most prepared workflows that are kept without the code of all their nodes. If there are more, all of these are forgotten. */
const maxWithoutCode = 100;

/** What definitions are prepared with. */
interface RegistryOptions {
  readonly workflows: readonly unknown[];
  /** Absent: the process has no code of nodes, so it cannot drive executions. */
  readonly nodeDefinitions: NodeDefinitions | undefined;
  readonly limits: Limits;
  readonly globalsFor?: GlobalsFor | undefined;
  /** Whether the process drives executions from the beginning: then it needs the code of all nodes. */
  readonly drives: boolean;
}

/**
 * The prepared workflows of a process. Only the workflows of the options have a name, which is their id. A definition that was handed
 * to `start`, or that an older execution is pinned to, is found by its hash alone, and is forgotten when it was not used for long.
 */
export class Registry {
  readonly #store: SnapshotStore;
  readonly #nodeDefinitions: NodeDefinitions;
  readonly #hasCode: boolean;
  #drives: boolean;
  readonly #limits: Limits;
  readonly #library: Library;
  readonly #globalsFor: GlobalsFor | undefined;
  readonly #byId = new Map<string, PreparedWorkflow>();
  /** How fast executions of the named workflows may begin, by the ids of the workflows; null: there is no limit. */
  readonly rates: NonNullable<ClaimOptions["rates"]>;
  readonly #byHash = new Map<string, PreparedWorkflow>();
  /** Prepared workflows without a name, by hash, the least recently used first. */
  readonly #recent = new Map<string, PreparedWorkflow>();
  #recentNodes = 0;
  readonly #withoutCode = new Map<string, PreparedWorkflow>();
  /** When a definition was last put into the store, on the monotonic clock, and the promise of that write. */
  readonly #stored = new WeakMap<PreparedWorkflow, { readonly done: Promise<void>; readonly atMs: number }>();

  /** @throws StepfoldError `DEFINITION_INVALID`; `OPTION_INVALID` if two have the same id, or if it drives and has no node definitions */
  constructor(store: SnapshotStore, { workflows, nodeDefinitions, limits, globalsFor, drives }: RegistryOptions) {
    this.#globalsFor = globalsFor;
    this.#store = store;
    this.#nodeDefinitions = nodeDefinitions ?? {};
    this.#hasCode = nodeDefinitions !== undefined;
    this.#drives = drives;
    if (drives) this.#requireCode();
    this.#limits = limits;
    this.#library = libraryOf(workflows);
    for (const workflow of workflows) {
      const prepared = this.#prepare(workflow, this.#library);
      const { id } = prepared.compiled.definition;
      this.#checkGlobals(prepared, false);
      if (this.#byId.has(id))
        throw new StepfoldError("OPTION_INVALID", { option: "workflows", reason: `has two definitions with the id "${id}"` });
      this.#byId.set(id, prepared);
      this.#byHash.set(prepared.compiled.hash, prepared);
    }
    this.rates = Object.fromEntries([...this.#byId].map(([id, { compiled }]) => [id, rateOf(compiled)]));
  }

  /** Prepares a definition of this library, with nodes that no other definition can use. It cannot be started by its id. */
  addOwn(definition: WorkflowDefinition, nodeDefinitions: NodeDefinitions): PreparedWorkflow {
    const prepared = prepareWorkflow(definition, nodeDefinitions, this.#limits);
    this.#byHash.set(prepared.compiled.hash, prepared);
    return prepared;
  }

  /**
   * Notes that the process begins to drive executions. From now on a definition is refused if the code of one of its nodes is not here. The
   * named definitions are checked at once.
   *
   * @throws StepfoldError `OPTION_INVALID` if it was given no node definitions, `DEFINITION_INVALID`
   */
  beginToDrive(): void {
    if (this.#drives) return;
    this.#requireCode();
    for (const { compiled, lacking } of this.#byId.values())
      if (lacking.length > 0) prepareWorkflow(compiled.definition, this.#nodeDefinitions, this.#limits);
    this.#drives = true;
  }

  /** @throws StepfoldError `OPTION_INVALID` if the process was given no node definitions */
  #requireCode(): void {
    if (this.#hasCode) return;
    throw new StepfoldError("OPTION_INVALID", {
      option: "nodeDefinitions",
      reason: "is needed to run executions; a process without node definitions must set drive: false",
    });
  }

  /** Prepares a definition that has no name here. @throws StepfoldError `DEFINITION_INVALID` */
  prepare(definition: unknown): PreparedWorkflow {
    const prepared = this.#prepare(definition, this.#library);
    this.#checkGlobals(prepared, true);
    return this.#known(prepared.compiled.hash) ?? this.#remember(prepared);
  }

  /** The workflows that have a name here. */
  named(): readonly PreparedWorkflow[] {
    return [...this.#byId.values()];
  }

  /** The node types whose code is here. */
  get nodeDefinitions(): NodeDefinitions {
    return this.#nodeDefinitions;
  }

  /** Returns the workflow with a name. @throws StepfoldError `DEFINITION_UNKNOWN` */
  current(id: string): PreparedWorkflow {
    const prepared = this.#byId.get(id);
    if (!prepared) throw new StepfoldError("DEFINITION_UNKNOWN", { workflow: String(id), known: [...this.#byId.keys()] });
    return prepared;
  }

  /**
   * Returns the workflow that an execution is pinned to, to perform it. It is read from the store if this process does not have it with all
   * its code.
   *
   * @throws StepfoldError `DEFINITION_MISSING`, `DEFINITION_INVALID` (a node type or a detached workflow that this process lacks, or a type
   * whose code here does not take the data of a node), `DEFINITION_CHANGED` if what the store has under this hash is another definition
   */
  async pinned(workflowId: string, hash: string): Promise<PreparedWorkflow> {
    const prepared = await this.pinnedForCommands(workflowId, hash);
    if (prepared.lacking.length === 0) return prepared;
    throw new StepfoldError("DEFINITION_INVALID", { workflow: prepared.compiled.definition.id, issues: prepared.lacking });
  }

  /**
   * Returns the same workflow for commands, with the code that is here: a process that only sends a command to an execution, or starts it,
   * does not need the code of its nodes, and whether this code takes the data of the definition does not matter to it.
   *
   * @throws StepfoldError `DEFINITION_MISSING`, `DEFINITION_CHANGED`
   */
  async pinnedForCommands(workflowId: string, hash: string): Promise<PreparedWorkflow> {
    const known = this.#known(hash) ?? this.#withoutCode.get(hash);
    if (known) return known;
    const definition = await this.#storedDefinition(workflowId, hash);
    const prepared = prepareStored(definition, this.#nodeDefinitions, this.#limits, this.#library);
    requireHash(workflowId, prepared, hash);
    if (prepared.lacking.length === 0) return this.#remember(prepared);
    if (this.#withoutCode.size >= maxWithoutCode) this.#withoutCode.clear();
    this.#withoutCode.set(hash, prepared);
    return prepared;
  }

  /**
   * Puts a definition into the store before an execution refers to it, and puts it again from time to time, because a failover to a copy
   * may have lost it. Each try of the write that refers to the definition calls this. A put of a definition that is there is one read.
   *
   * @param nowMs the time on the monotonic clock
   * @param forMs how long the definition counts as stored after a put
   */
  ensureStored(prepared: PreparedWorkflow, nowMs: number, forMs: number = minFailoverMs): Promise<void> {
    let stored = this.#stored.get(prepared);
    if (!stored || nowMs - stored.atMs >= forMs) {
      const { hash, definition } = prepared.compiled;
      // lists show only definitions with a name, because a program may make a definition for each execution
      const options = this.#byId.get(definition.id)?.compiled.hash === hash ? {} : { listedAs: null };
      const mine = { done: this.#store.putDefinition(hash, withNeeds(definition), options), atMs: nowMs };
      stored = mine;
      this.#stored.set(prepared, mine);
      mine.done.catch(() => {
        if (this.#stored.get(prepared) === mine) this.#stored.delete(prepared);
      });
    }
    return stored.done;
  }

  /**
   * Does the same for a definition that an execution here is pinned to, in the background and rarely. A failover may have lost the
   * definition and not the execution, and this process may be the last one that has the definition.
   */
  ensureUsedStored(prepared: PreparedWorkflow, nowMs: number): void {
    this.ensureStored(prepared, nowMs, keptWhileUsedMs).catch(() => undefined);
  }

  async #storedDefinition(workflowId: string, hash: string): Promise<WorkflowDefinition> {
    const definition = await this.#store.getDefinition(hash);
    if (definition) return definition;
    throw new StepfoldError("DEFINITION_MISSING", { workflowId, hash });
  }

  #prepare(definition: unknown, library: Library): PreparedWorkflow {
    const prepared = prepareWorkflow(definition, this.#nodeDefinitions, this.#limits, library, { withoutCode: !this.#drives });
    requireUnreserved({ definition: prepared.compiled.definition.id });
    return prepared;
  }

  /** @throws StepfoldError `DEFINITION_INVALID` if an expression names a global that the workflow may not read */
  #checkGlobals({ compiled: { definition }, nodes }: PreparedWorkflow, isUnnamed: boolean): void {
    const allowed = globalNamesOf(this.#globalsFor, definition.id, isUnnamed);
    if (!allowed) return;
    const issues: Issue[] = [];
    for (const node of nodes.values()) {
      const { id: nodeId } = node.compiled.node;
      const name = deniedGlobal(node, allowed);
      if (name === undefined) continue;
      const index = definition.nodes.findIndex(({ id }) => id === nodeId);
      const { message } = new StepfoldError("GLOBAL_DENIED", { nodeId, name, allowed });
      issues.push({ severity: "error", code: "GLOBAL_DENIED", pointer: index < 0 ? "/workflows" : `/nodes/${index}`, message });
    }
    if (issues.length > 0)
      throw new StepfoldError("DEFINITION_INVALID", { workflow: definition.id, issues: issues.slice(0, this.#limits.issues) });
  }

  #known(hash: string): PreparedWorkflow | undefined {
    const recent = this.#recent.get(hash);
    if (recent) {
      this.#recent.delete(hash);
      this.#recent.set(hash, recent);
    }
    return this.#byHash.get(hash) ?? recent;
  }

  #remember(prepared: PreparedWorkflow): PreparedWorkflow {
    const { hash: own } = prepared.compiled;
    // several executions can load the same definition at the same moment
    const known = this.#recent.get(own);
    if (known) return known;
    this.#recent.set(own, prepared);
    this.#recentNodes += prepared.nodes.size;
    for (const [hash, { nodes }] of this.#recent) {
      if (this.#recentNodes <= maxRecentNodes || this.#recent.size === 1) break;
      this.#recent.delete(hash);
      this.#recentNodes -= nodes.size;
    }
    return prepared;
  }
}

/** Refuses a definition of the store whose hash is not the pinned one: it was changed in the store. */
function requireHash(workflowId: string, { compiled: { hash: actual } }: PreparedWorkflow, hash: string): void {
  if (actual !== hash) throw new StepfoldError("DEFINITION_CHANGED", { workflowId, expected: actual, actual: hash, isStored: true });
}

function rateOf({ rateLimit }: PreparedWorkflow["compiled"]): Pick<Rate, "limit" | "periodMs"> | null {
  return rateLimit && { limit: rateLimit.limit, periodMs: rateLimit.periodMs };
}
