import type { CodeMutant } from "./mutant.ts";

const faultFree = { mode: "faultFree", faults: [] } as const;

/** Mistakes in engine and runtime. No module of the simulation is imported here, because it must load after the mistakes are installed. */
export const codeMutants: readonly CodeMutant[] = [
  {
    // a fence that was lost by a failover is used again
    name: "lost-fence-is-given-again",
    firstSeed: 18,
    caughtBy: ["I14"],
    options: { mode: "liveness", faults: ["failover", "slowStep"] },
    patches: [
      {
        file: "stores/kit/claims/fence.ts",
        find: "  return 1 + Math.floor(Math.random() * maxFenceStep);",
        put: "  return maxFenceStep && 1;",
      },
    ],
  },
  {
    name: "lists-keep-the-last-wait",
    caughtBy: ["I10"],
    options: faultFree,
    patches: [{ file: "runtime/context/make-commit.ts", find: "if (waits) commit.waits", put: "if (waits?.length) commit.waits" }],
  },
  {
    name: "fork-without-results",
    caughtBy: ["I10", "I11"],
    options: faultFree,
    patches: [
      {
        file: "core/transition/take-checkpoint.ts",
        find: "    context: movedContext(snapshot.context, move),",
        put: "    context: movedContext({}, move),",
      },
    ],
  },
  {
    name: "fork-fires-timers-at-once",
    firstSeed: 20,
    caughtBy: ["I8"],
    options: faultFree,
    patches: [
      {
        file: "core/transition/take-checkpoint.ts",
        find: "...(waits && { waits: waits.map((wait) => movedWait(wait, laterMs)) }),",
        put: "...(waits && { waits: waits.map((wait) => ({ ...wait, ...(wait.resumeAt !== undefined && { resumeAt: 0 }) })) }),",
      },
    ],
  },
  {
    name: "fork-leaves-detached-children-to-the-origin",
    firstSeed: 453,
    caughtBy: ["I7", "script"],
    options: faultFree,
    patches: [
      { file: "core/transition/take-checkpoint.ts", find: 'kind === "delivery" || kind === "child");', put: 'kind === "delivery");' },
    ],
  },
  {
    name: "restart-at-the-end",
    firstSeed: 18,
    caughtBy: ["I10", "I11", "I7", "script"],
    options: faultFree,
    patches: [
      {
        file: "core/restart/reopen-run.ts",
        find: ': kept), status: "ready", turn, attempts: 0 };',
        put: ': kept), status: "suspended", turn, attempts: 0 };',
      },
    ],
  },
  {
    name: "deadline-is-nobody-s-business",
    caughtBy: ["I7"],
    options: faultFree,
    patches: [
      {
        file: "core/transition/draft/draft-status.ts",
        find: "Math.min(wakeOf(draft.paths), deadlineIn(draft), draft",
        put: "Math.min(wakeOf(draft.paths), draft",
      },
    ],
  },
  {
    name: "steps-are-begun-after-the-deadline",
    firstSeed: 25,
    caughtBy: ["I19"],
    options: { mode: "liveness", faults: ["storeSlow"] },
    patches: [
      {
        file: "engine/turn.ts",
        find: "if (events.length > 0 && !this.#draining && this.#due()) continue;",
        put: "",
      },
    ],
  },
  {
    name: "restart-has-the-old-deadline",
    caughtBy: ["I8", "check"],
    options: faultFree,
    patches: [
      {
        file: "runtime/forks/plan-restart.ts",
        find: "return deadlineAt > now ? { deadline: deadlineAt",
        put: "return deadlineAt > 0 ? { deadline: deadlineAt",
      },
    ],
  },
  {
    name: "nothing-runs-at-the-end-of-what-has-failed",
    firstSeed: 18,
    caughtBy: ["I11"],
    options: faultFree,
    patches: [
      {
        file: "core/transition/close.ts",
        find: "export function close(draft: Draft, at: EpochMs): void {\n",
        put: 'export function close(draft: Draft, at: EpochMs): void {\n  if (draft.ended === "failed" && !draft.closing) return;\n',
      },
    ],
  },
  {
    name: "decision-without-output",
    firstSeed: 10,
    caughtBy: ["I10"],
    options: faultFree,
    patches: [
      {
        file: "core/transition/paths/incident.ts",
        find: "  const { action, output = null } = payload as unknown as IncidentAnswer;",
        put: "  const { action } = payload as unknown as IncidentAnswer;\n  const output = null;",
      },
    ],
  },
  {
    name: "retry-of-an-incident-has-no-attempts",
    firstSeed: 32,
    caughtBy: ["I8", "I10", "I11"],
    options: faultFree,
    patches: [
      {
        file: "core/transition/paths/incident.ts",
        find: "  path.attempts = 0;",
        put: "  path.attempts = attempt;",
      },
    ],
  },
  {
    name: "sub-workflow-is-begun-once",
    firstSeed: 23,
    caughtBy: ["I10", "I11"],
    options: faultFree,
    patches: [
      {
        file: "core/transition/children/complete-children.ts",
        find: "  if (!policy) return error;",
        put: "  if (!policy || policy) return error;",
      },
    ],
  },
  {
    name: "incident-ends-the-execution",
    firstSeed: 10,
    caughtBy: ["I10", "I11"],
    options: faultFree,
    patches: [
      { file: "core/transition/events/step-events.ts", find: "  else if (event.incident) openIncident(scope, path, event);\n", put: "" },
    ],
  },
  {
    name: "checkpoint-without-children",
    firstSeed: 18,
    caughtBy: ["I10"],
    patches: [
      {
        file: "core/snapshot/history-checkpoint.ts",
        find: "    ...(childStates && { childStates: heldResults(childStates) }),",
        put: "    ...(childStates && !heldResults && { childStates }),",
      },
    ],
  },
  {
    name: "refused-answer-counts",
    firstSeed: 77,
    caughtBy: ["I18"],
    patches: [
      {
        file: "engine/attempt/perform.ts",
        find: "  if (resumed.issues && task.resumed?.reopens) return { refused: resumed.issues };",
        put: "  if (resumed.issues && task.resumed?.reopens) return { data: checked.value, payload };",
      },
    ],
  },
  {
    name: "refused-answer-keeps-its-key",
    firstSeed: 77,
    caughtBy: ["I10"],
    patches: [
      {
        file: "core/transition/draft/reopen.ts",
        find: "if (reopens.version !== undefined) forgetKey(root, reopens.version);",
        put: "if (reopens.version !== undefined) forgetKey(root, -1);",
      },
    ],
  },
  {
    name: "checkpoint-forgets-schemas",
    firstSeed: 5,
    caughtBy: ["I10"],
    patches: [
      {
        file: "core/snapshot/history-checkpoint.ts",
        find: "    ...(schemas && { schemas }),",
        put: "    ...(schemas && { schemas: {} }),",
      },
    ],
  },
  {
    name: "checkpoint-forgets-keys",
    caughtBy: ["I5b", "I10"],
    patches: [
      {
        file: "core/snapshot/history-checkpoint.ts",
        find: "    ...(answered && { answered }),",
        put: "    ...(answered && { answered: [] }),",
      },
    ],
  },
  {
    name: "events-after-the-checkpoint-are-not-read",
    caughtBy: ["I10"],
    patches: [
      {
        file: "stores/kit/restoring/restored-snapshot.ts",
        find: "    const events = eventsAfter(checkpoint?.version ?? -1, rows);",
        put: "    const events = checkpoint ? [] : eventsAfter(-1, rows);",
      },
    ],
  },
  {
    name: "no-version-on-pause",
    caughtBy: ["I1", "I7"],
    patches: [
      {
        file: "core/transition/evolve.ts",
        find: "  draft.version = event.version;\n  if (event.sizeBytes",
        put: '  if (event.type !== "suspended") draft.version = event.version;\n  if (event.sizeBytes',
      },
    ],
  },
  {
    name: "resume-in-any-status",
    firstSeed: 4,
    caughtBy: ["I5b"],
    options: faultFree,
    patches: [
      {
        file: "core/transition/find-wait.ts",
        find: "  const found = meant[0];",
        put: '  const found = meant[0] ?? (waitId && { scope: "", path: snapshot.activePaths[0]!, wait: { id: waitId, kind: "external" as const } });',
      },
      { file: "core/transition/find-wait.ts", find: "const times = path.waits!.", put: "const times = (path.waits ?? [])." },
      {
        file: "core/transition/events/path-events.ts",
        find: '  if (!found || found.wait.kind === "children") return false;',
        put: '  if (!found) return true;\n  if (found.wait.kind === "children") return false;',
      },
    ],
  },
  {
    name: "timer-early",
    caughtBy: ["I8"],
    options: faultFree,
    patches: [{ file: "core/transition/plan.ts", find: "if (at <= now) first", put: "if (at <= now + 2_000) first" }],
  },
  {
    name: "answers-judged-by-the-clock-of-callers",
    caughtBy: ["I8"],
    options: { mode: "faultFree", faults: ["skew"] },
    patches: [{ file: "runtime/commands/dispatch-command.ts", find: "await patiently(() => clock.now())", put: "environment.now()" }],
  },
  {
    name: "retry-early",
    caughtBy: ["I8"],
    options: faultFree,
    patches: [{ file: "core/transition/plan.ts", find: "(nextRetryAt ?? 0) <= now);", put: "(nextRetryAt ?? 0) <= now + 2_000);" }],
  },
  {
    name: "goes-on-after-the-end",
    firstSeed: 4,
    caughtBy: ["I3"],
    patches: [
      {
        file: "engine/commands/command.ts",
        find: "  if (isTerminal(status)) throw",
        put: '  if (isTerminal(status) && command.type !== "signal") throw',
      },
      {
        file: "engine/commands/command.ts",
        find: 'const goesOn = command.type === "delivered" ||',
        put: 'const goesOn = command.type === "signal" || command.type === "delivered" ||',
      },
      {
        file: "core/transition/evolve.ts",
        find: "if (draft.ended || event.version",
        put: 'if ((draft.ended && event.type !== "signalled") || event.version',
      },
      {
        file: "core/transition/evolve.ts",
        find: "if (!scope || scope.ended || (event",
        put: 'if (!scope || (scope.ended && event.type !== "signalled") || (event',
      },
      { file: "stores/kit/writing/row-writes.ts", find: "version: expectedVersion, open: !reopens }", put: "version: expectedVersion }" },
    ],
  },
  {
    name: "result-added-twice",
    caughtBy: ["I10"],
    options: faultFree,
    patches: [
      {
        file: "core/transition/draft/add-result.ts",
        find: "  results.push(result);",
        put: "  results.push(result);\n  if (result.attempt === 2) results.push(result);",
      },
    ],
  },
  {
    name: "fork-forgets-a-branch",
    firstSeed: 4,
    caughtBy: ["I11"],
    options: faultFree,
    patches: [
      { file: "core/transition/paths/leave.ts", find: "  const arriving = taken.map(", put: "  const arriving = taken.slice(0, 2).map(" },
    ],
  },
  {
    name: "commit-without-effect",
    caughtBy: ["I4"],
    options: faultFree,
    patches: [
      {
        file: "engine/attempt/perform.ts",
        find: "  const returned = definition.executor(data, step);",
        put: '  const returned = task.attempt > 1 ? { data: "skipped" } : definition.executor(data, step);',
      },
    ],
  },
  {
    name: "one-attempt-too-many",
    caughtBy: ["I9"],
    options: faultFree,
    patches: [{ file: "core/definition/retry.ts", find: "if (attempt >= rule.maxAttempts)", put: "if (attempt > rule.maxAttempts)" }],
  },
  {
    name: "message-forgotten",
    firstSeed: 8,
    caughtBy: ["I7"],
    options: { mode: "liveness" },
    patches: [
      {
        file: "runtime/delivery/deliver-outbox.ts",
        find: "    await answered(deliver({ context, local, from, isHeld, command, start }, message));\n",
        put: '    if (message.type !== "ended") await answered(deliver({ context, local, from, isHeld, command, start }, message));\n',
      },
    ],
  },
  {
    name: "siblings-merged-wrongly",
    firstSeed: 32,
    caughtBy: ["I7", "I10", "I11", "I12"],
    patches: [
      {
        file: "engine/turn.ts",
        find: "for (const settled of outcomes) this.#apply(settled, events);",
        put: "for (const settled of outcomes.slice(-1)) this.#apply(settled, events);",
      },
    ],
  },
  {
    name: "outcome-performed-again-after-conflict",
    caughtBy: ["I12"],
    options: faultFree,
    patches: [
      {
        file: "engine/turn.ts",
        find: "this.#applyAll(outcomes, again);",
        put: "for (const { task } of outcomes) this.#running.delete(task);",
      },
    ],
  },
  {
    name: "secret-in-errors",
    caughtBy: ["I15"],
    options: faultFree,
    patches: [{ file: "engine/open-turn.ts", find: "    return made(text);", put: "    return text;" }],
  },
  {
    name: "snapshot-changed-in-place",
    caughtBy: ["I16"],
    patches: [
      {
        file: "core/transition/draft/add-result.ts",
        find: "results === borrowed[nodeId]) results = results.slice();",
        put: "results === borrowed[nodeId]) results = results;",
      },
      {
        file: "core/transition/draft/add-result.ts",
        find: "  results.push(result);",
        put: "  if (!Object.isFrozen(results)) results.push(result);\n  else results = [...results, result];",
      },
    ],
  },
  {
    name: "state-outside-of-the-snapshot",
    firstSeed: 72,
    caughtBy: ["I13"],
    patches: [{ file: "core/transition/draft/draft-path.ts", find: "  if (path.forks > 0) active.forks = path.forks;\n", put: "" }],
  },
  {
    name: "conflict-ends-the-drive",
    caughtBy: ["I12"],
    options: faultFree,
    patches: [
      {
        file: "runtime/worker/execution-session.ts",
        find: "if (same && (isTerminal(stored.status)",
        put: "if (false && same && (isTerminal(stored.status)",
      },
    ],
  },
  {
    // claims whose answer came too late count as crashes
    name: "slow-store-parks",
    firstSeed: 14,
    caughtBy: ["I9"],
    options: { mode: "liveness", faults: ["brownOut"] },
    patches: [
      {
        file: "stores/kit/claims/claim-count.ts",
        find: "crashes: Math.floor(crashes / crashUnit) };",
        put: "crashes: crashes % crashUnit };",
      },
    ],
  },
  {
    // most of the writers that write at the same moment are refused
    name: "other-writers-are-not-let-pass",
    caughtBy: ["script"],
    options: faultFree,
    patches: [{ file: "runtime/commands/dispatch-command.ts", find: "const maxConflicts = 100;", put: "const maxConflicts = 0;" }],
  },
  {
    // a row that another transaction has locked delays all claims
    name: "claims-wait-for-locked-rows",
    caughtBy: ["I7"],
    options: { mode: "liveness", faults: ["rowLock"] },
    patches: [
      {
        file: "stores/kit/claims/claims.ts",
        find: "(await takeExecutions(this.#writer, next.map(plannedClaim), options, true)).claimed",
        put: "(await takeExecutions(this.#writer, next.map(plannedClaim), options, false)).claimed",
      },
    ],
  },
  {
    // a single call that is never answered stops the process
    name: "answers-are-waited-for-for-ever",
    caughtBy: ["I7"],
    options: { mode: "liveness", faults: ["storeHang"] },
    patches: [
      {
        file: "runtime/context/store/deadline-store.ts",
        find: "awaitAnswer(work, { deadlines, timeoutMs, missing, late });",
        put: "(void deadlines, void missing, void late, work);",
      },
    ],
  },
  {
    // a write that was reported as not done happens later
    name: "refused-and-done",
    firstSeed: 10,
    caughtBy: ["I5b"],
    options: { mode: "liveness", faults: ["halfOpen", "storeHang", "storeErrorAfter"] },
    patches: [
      // callers wait for a shorter time, so that the mistake shows sooner
      { file: "runtime/context/store/persist.ts", find: "maxUnavailableMs = 10_000", put: "maxUnavailableMs = 1_000" },
      {
        file: "runtime/context/store/persist.ts",
        find: 'if (StepfoldError.is(error, "STORE_UNAVAILABLE")) throw unknown(error.message, error);',
        put: 'if (StepfoldError.is(error, "STORE_UNAVAILABLE")) throw error;',
      },
    ],
  },
  {
    // timers of one path wait for the step of another path
    name: "timers-wait-for-running-steps",
    firstSeed: 32,
    caughtBy: ["I7"],
    options: { mode: "faultFree", faults: ["slowStep"] },
    patches: [
      {
        file: "engine/turn.ts",
        find: "this.#news.wait(this.#draining ? null : nextTimerAt(this.draft, this.#plannedAt));",
        put: "this.#news.wait(this.#draining || true ? null : nextTimerAt(this.draft, this.#plannedAt));",
      },
    ],
  },
  {
    // definitions that a failover has lost are not stored again
    name: "definition-put-once",
    firstSeed: 39,
    caughtBy: ["I10", "script", "I7"],
    options: { mode: "liveness", faults: ["failover"] },
    patches: [
      { file: "runtime/context/registry.ts", find: "forMs: number = minFailoverMs", put: "forMs: number = Number.POSITIVE_INFINITY" },
    ],
  },
  {
    // a process claims an execution that it already runs, and runs it twice
    name: "own-execution-runs-twice",
    firstSeed: 99,
    caughtBy: ["I14"],
    options: { mode: "liveness", faults: ["failover", "slowStep"] },
    patches: [
      {
        file: "runtime/worker/dispatcher.ts",
        find: "const goneOn = await this.#goOnIn(sessions.get(workflowId), timed);",
        put: "const goneOn = null;",
      },
    ],
  },
];
