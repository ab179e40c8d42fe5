import { StepfoldError } from "../core/errors/stepfold-error.ts";
import type { Snapshot } from "../core/snapshot/snapshot.ts";
import { canonicalJson } from "../core/values/canonical-json.ts";
import { anObject, refuseUnknown, requireOption } from "../core/values/check-arguments.ts";
import { sha256 } from "../core/values/hash/sha256.ts";
import { scheduleIdOf, scheduleNameOf } from "../core/values/ids/reserved-ids.ts";
import { ofTenant, withoutTenant } from "../core/values/ids/tenant.ts";
import type { EpochMs, Json, JsonObject } from "../core/values/json.ts";
import { judgeTimestamp } from "../core/values/timestamp.ts";
import { normalise } from "../core/values/to-json.ts";
import type { Page } from "../ports/execution-list.ts";
import type { ScheduleHost } from "../runtime/context/schedule-host.ts";
import type {
  CreateScheduleOptions,
  ScheduleDescription,
  ScheduleListQuery,
  ScheduleSpec,
  Schedules,
  TriggerOptions,
} from "../runtime/context/schedules.ts";
import { changed } from "./commands.ts";
import { describe, hasEnded, stateOf } from "./describe.ts";
import { maxNoteLength, type ScheduleCommand } from "./read-command.ts";
import { type CheckedSpec, readSpec, readTickingSpec } from "./spec.ts";
import { initialState, type ScheduleState } from "./state.ts";

/** The form of a name: long enough for people, and so short that the ids of the started executions are not too long. */
const nameForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
/** The longest idempotency key of a trigger, in characters. */
const maxKeyLength = 255;
/** A command without its time. */
type Unstamped<C = ScheduleCommand> = C extends ScheduleCommand ? Omit<C, "at"> : never;

/** A schedule that was looked up. */
interface Known {
  readonly snapshot: Snapshot;
  /** Null if it cannot be read, because it was changed in the store. Such a schedule can be deleted, and created again after that. */
  readonly state: ScheduleState | null;
}

/** Finds the executions of schedules, and sends commands to them. */
class ScheduleReach {
  readonly host: ScheduleHost;

  constructor(host: ScheduleHost) {
    this.host = host;
  }

  /** Finds a schedule: that of the tenant with this name, or one of its that was made outside a scope and so has the whole name. */
  async find(name: string): Promise<Known | null> {
    for (const whole of new Set([this.wholeName(name), name])) {
      const snapshot = await this.host.load(scheduleIdOf(whole));
      if (snapshot) return { snapshot, state: stateOf(snapshot) };
    }
    return null;
  }

  /** Returns the name under which a schedule is stored: with the tenant, so that two tenants may use the same name. */
  wholeName(name: string): string {
    return this.host.tenant === undefined ? checkName(name) : ofTenant(this.host.tenant, checkName(name));
  }

  /** Returns the description of a schedule, with its name as the caller knows it. */
  shown({ snapshot, state }: Known & { readonly state: ScheduleState }): ScheduleDescription {
    const { name, ...others } = describe(snapshot, state);
    return { name: this.host.tenant === undefined ? name : withoutTenant(this.host.tenant, name), ...others };
  }

  /** @throws StepfoldError `SCHEDULE_NOT_FOUND`, `SNAPSHOT_INVALID` if its state cannot be read */
  async require(name: string): Promise<Known & { readonly state: ScheduleState }> {
    const known = await this.find(name);
    if (!known) throw new StepfoldError("SCHEDULE_NOT_FOUND", { schedule: name });
    const { snapshot, state } = known;
    if (state) return { snapshot, state };
    const reason = `holds no state of a schedule any more; delete the schedule "${name}" and create it again`;
    throw new StepfoldError("SNAPSHOT_INVALID", { pointer: "", reason });
  }

  async describe(name: string): Promise<ScheduleDescription> {
    return this.shown(await this.require(name));
  }

  /** Sends a command to a schedule. @throws StepfoldError `SCHEDULE_NOT_FOUND` */
  async command(name: string, given: Unstamped): Promise<void> {
    await this.tell(await this.require(name), given);
  }

  /** Sends a command to a schedule that was looked up. @param idempotencyKey the same key counts once, as in `run.signal` */
  async tell({ snapshot }: Known, given: Unstamped, idempotencyKey?: string): Promise<void> {
    const stamped = { ...given, at: await this.host.now() };
    await this.host.tell(snapshot.workflowId, stamped as unknown as Json, idempotencyKey);
  }

  /** Starts the execution of a schedule. @returns false if another call has started it at the same time */
  async begin(name: string, spec: CheckedSpec, options: CreateScheduleOptions, before: Known | null): Promise<boolean> {
    const workflowId = before?.snapshot.workflowId ?? scheduleIdOf(this.wholeName(name));
    const whole = scheduleNameOf(workflowId);
    // a schedule that has ended makes room for the new one of its name
    if (before) await this.host.remove(workflowId);
    const state = initialState(whole, spec, await this.host.now(), options.paused ?? false);
    return this.host.start(whole, workflowId, state as unknown as Json, options.tenant);
  }
}

/** Returns the functions for the schedules of one runtime. */
export function schedulesOn(host: ScheduleHost): Schedules {
  const reach = new ScheduleReach(host);
  return {
    ...changingSchedules(reach),
    async pause(name, note) {
      if (note !== undefined && typeof note !== "string") throw invalid("note", "must be a text");
      await reach.command(name, { type: "pause", ...(note !== undefined && { note: note.slice(0, maxNoteLength) }) });
    },
    resume: (name) => reach.command(name, { type: "resume" }),
    trigger: (name, options = {}) => trigger(reach, name, options),
    async backfill(name, options) {
      refuseUnknown("schedules.backfill", options, ["from", "to", "overlap"]);
      const { overlap = "queue" } = options;
      if (overlap !== "queue" && overlap !== "allow") throw invalid("overlap", 'must be "queue" or "allow"');
      const [from, to, now] = [timestamp("from", options.from), timestamp("to", options.to), await host.now()];
      if (from > to) throw invalid("from", "must not be after `to`");
      if (to > now) throw invalid("to", "must not be in the future");
      await reach.command(name, { type: "backfill", from, to, overlap });
    },
    async delete(name) {
      const known = await reach.find(name);
      if (!known) throw new StepfoldError("SCHEDULE_NOT_FOUND", { schedule: name });
      await host.cancel(known.snapshot.workflowId, "the schedule was deleted");
    },
    describe: (name) => reach.describe(name),
    list: async (query = {}) => listSchedules(reach, query),
  };
}

/**
 * Starts an execution with an id of its own. With a key the id is made of the key: so a repeated call starts none, even if the schedule does
 * not remember the key any more.
 */
async function trigger(reach: ScheduleReach, name: string, options: TriggerOptions): Promise<{ readonly workflowId: string }> {
  refuseUnknown("schedules.trigger", options, ["idempotencyKey"]);
  const { idempotencyKey: key } = options;
  if (key !== undefined && !isKey(key)) throw invalid("idempotencyKey", `must be a text of 1 to ${maxKeyLength} characters`);
  // a schedule that was created again under the name has keys of its own
  const known = await reach.require(name);
  const { incarnation, workflowId: scheduleId } = known.snapshot;
  const own = key === undefined ? reach.host.newId() : sha256(JSON.stringify([incarnation, key])).slice(0, 32);
  const workflowId = `${scheduleNameOf(scheduleId)}@trigger-${own}`;
  await reach.tell(known, { type: "trigger", workflowId }, key && `trigger ${key}`).catch((error: unknown) => {
    // the key is known, and only the time differs
    if (key === undefined || !StepfoldError.is(error, "RESUME_CONFLICT")) throw error;
  });
  return { workflowId };
}

function isKey(key: unknown): boolean {
  return typeof key === "string" && key !== "" && key.length <= maxKeyLength;
}

function changingSchedules(reach: ScheduleReach): Pick<Schedules, "create" | "put" | "edit"> {
  const { host } = reach;
  return {
    async create(name, given, options = {}) {
      checkOptions(options);
      const spec = readSpec(checkName(name), given);
      const known = await reach.find(name);
      // a caller that got no answer calls again; the schedule may have ended in the meantime
      const isThere = known && (!hasEnded(known.snapshot) || (known.snapshot.status === "completed" && isSame(known.state?.spec, spec)));
      if (!isThere) {
        readTickingSpec(name, spec, await host.now());
        if (await reach.begin(name, spec, options, known)) return reach.describe(name);
      }
      const { snapshot, state } = await reach.require(name);
      if (!isSame(state.spec, spec)) throw new StepfoldError("SCHEDULE_EXISTS", { schedule: name });
      return reach.shown({ snapshot, state });
    },
    async put(name, given, options = {}) {
      checkOptions(options);
      const spec = readSpec(checkName(name), given);
      const known = await reach.find(name);
      if (known?.state && isSame(known.state.spec, spec)) return reach.shown({ ...known, state: known.state });
      if (!known || hasEnded(known.snapshot)) await reach.begin(name, spec, options, known);
      else await reach.command(name, { type: "edit", changes: spec as unknown as JsonObject, replaces: true });
      return reach.describe(name);
    },
    async edit(name, given) {
      requireOption("changes", given, anObject);
      const { state } = await reach.require(name);
      const { changes, removes } = changesOf(given);
      readTickingSpec(name, changed(state.spec as unknown as JsonObject, changes, removes), await host.now());
      await reach.command(name, { type: "edit", changes, removes });
      return reach.describe(name);
    },
  };
}

async function listSchedules(reach: ScheduleReach, query: ScheduleListQuery): Promise<Page<ScheduleDescription>> {
  refuseUnknown("schedules.list", query, ["tenant", "ended", "limit", "cursor"]);
  const { ended = false, limit = 50, tenant, cursor } = query;
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > 100) throw invalid("limit", "must be a whole number from 1 to 100");
  const open = ["active", "paused", "error", "parked"] as const;
  const { host } = reach;
  if (tenant !== undefined && host.tenant !== undefined && tenant !== host.tenant)
    throw invalid("tenant", `must be "${host.tenant}" or absent: the runtime was made for it with \`scoped\``);
  const page = await host.list({
    limit,
    ...(!ended && { status: open }),
    ...(tenant !== undefined && { tenant }),
    ...(cursor !== undefined && { cursor }),
  });
  const found = await Promise.all(page.items.map(({ workflowId }) => host.load(workflowId)));
  const items = found.flatMap((snapshot) => {
    const state = snapshot && stateOf(snapshot);
    return state ? [reach.shown({ snapshot, state })] : [];
  });
  return { items, nextCursor: page.nextCursor };
}

function checkName(name: unknown): string {
  if (typeof name === "string" && nameForm.test(name)) return name;
  throw invalid("name", "must be 1 to 100 letters, digits, `.`, `_` and `-`, the first one a letter or a digit");
}

function checkOptions(options: CreateScheduleOptions): void {
  refuseUnknown("schedules.create", options, ["tenant", "paused"]);
}

/** Returns the changes as JSON, and the names of the members to remove, which were given as `undefined`. */
function changesOf(given: Partial<ScheduleSpec>): { readonly changes: JsonObject; readonly removes: readonly string[] } {
  const removes = Object.entries(given).flatMap(([member, value]) => (value === undefined ? [member] : []));
  return { changes: normalise(given, "The changes of the schedule").value as JsonObject, removes };
}

function isSame(a: CheckedSpec | undefined, b: CheckedSpec): boolean {
  return a !== undefined && canonicalJson(a as unknown as Json) === canonicalJson(b as unknown as Json);
}

function timestamp(option: string, value: unknown): EpochMs {
  const at = judgeTimestamp(value);
  if (typeof at === "number") return at;
  throw invalid(option, at);
}

function invalid(option: string, reason: string): StepfoldError {
  return new StepfoldError("OPTION_INVALID", { option, reason });
}
