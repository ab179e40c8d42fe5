import type { BrokenStore } from "../broken-store.ts";
import { type RateRules, withRateRules } from "./rate-rules.ts";

const counts = "rate: no more of one key are claimed for the first time in a period; other keys and those without one are";
const slides = "rate: the window slides: a period after each first claim there is room for one";
const keys = "rate: keys are compared as they are";
const lost = "rate: a first claim that never began has counted, and the next one of its execution is free";
const stays = "rate: one that waits stays in its place when somebody commits to it, and an end takes it away";
const deadline = "rate: a deadline that passes in the line makes one due, which counts for nothing";
const race = "rate: of 40 claims at once on 20 executions no more succeed than the limit in any period (one handle)";

function mistake(name: string, caughtBy: string, rules: RateRules): BrokenStore {
  return { name, caughtBy, breaks: (store) => withRateRules(store, rules) };
}

/**
 * Mistakes with rates: only a limited number of executions with the same rate key may begin in a period. Each mistake is a correct store
 * with one wrong rule, and names the contract case that finds it.
 */
export const brokenRates: readonly BrokenStore[] = [
  mistake("takes no notice of rates", counts, { limitOf: () => Number.POSITIVE_INFINITY }),
  mistake("lets one more begin than may", counts, { limitOf: ({ limit }) => limit + 1 }),
  mistake("lets one of each key begin, whatever the limit", counts, { limitOf: () => 1 }),
  mistake("takes no notice of rates when it is asked for an id", counts, { ignoresIds: true }),
  mistake("lets one that has to wait hold up those of other keys", counts, { queuesAll: true }),
  mistake("counts by the clock's periods, from one to the next", slides, { sinceOf: (now, { periodMs }) => now - (now % periodMs) - 1 }),
  mistake("waits twice as long", slides, { sinceOf: (now, { periodMs }) => now - 2 * periodMs }),
  mistake("waits half as long", slides, { sinceOf: (now, { periodMs }) => now - periodMs / 2 }),
  mistake("lets begin first what came last", "rate: those that came first come first", { reversed: true }),
  mistake("lets one wait for its rate beyond its deadline", deadline, { ignoresDeadlines: true }),
  mistake("counts one that it claims to end", deadline, { countsEnds: true }),
  mistake(
    "holds up the end of one in a line",
    "rate: one that only has to tell its end is claimed by its id at once, and counts for nothing",
    {
      holdsEnds: true,
    },
  ),
  mistake("counts later claims too", "rate: later claims are free, and wait for none of those that wait for their first one", {
    countsLater: true,
  }),
  mistake("forgets a claim that never began", lost, { forgetsLost: true }),
  mistake("lets begin at once what somebody has committed to", stays, { freesCommitted: true }),
  mistake("counts no more what has ended", stays, { forgetsEnded: true }),
  mistake("shows a line as a holder", "rate: one that waits is held by nobody", { showsHolder: true }),
  mistake("goes by the highest limit it has seen", "rate: of different limits each execution goes by its own", { limitOf: () => 3 }),
  mistake(
    "goes by the limit of the start when it was raised",
    "rate: a limit that is raised counts for those that wait already, before their time",
    { ignoresToday: true },
  ),
  mistake("goes by the limit of the start when it was lowered", "rate: a limit that is lowered counts", { ignoresToday: true }),
  mistake("goes by a limit that is gone", "rate: where the workflow has no limit any more, nothing waits", { ignoresToday: true }),
  mistake("goes by the limit of any workflow", "rate: that of another workflow says nothing", { confusesWorkflows: true }),
  mistake("claims a new execution with a rate", "rate: a new execution with one is not claimed with its creation", {
    claimsAtCreation: true,
  }),
  mistake(
    "claims all that may begin, however few it is asked for",
    "rate: a claim takes no more than it asks for, and no fewer, where some of a rate need a permit too",
    { ignoresNumber: true },
  ),
  mistake("lets begin what is not overdue", "rate: what is not overdue is left, also one that waits for its first claim", {
    ignoresOverdue: true,
  }),
  mistake("compares keys of rates without case", keys, { keyOf: (key) => key.toLowerCase() }),
  mistake("compares the first 254 characters of keys of rates", keys, { keyOf: (key) => key.slice(0, 254) }),
  mistake("counts those that began, and lets one begin later", race, { countsFirst: true }),
];
