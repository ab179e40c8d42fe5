import { exemptAtOf } from "../../../ports/exempt-at.ts";
import type { BrokenStore } from "../broken-store.ts";
import { type PermitRules, withPermitRules } from "./permit-rules.ts";

const frees = (what: string): string => `permit: the next may be claimed when ${what}`;
const counts = "permit: no more of one key are claimed than its limit; other keys and those without one are";
const race = "permit: of 40 claims at once on 20 executions no more succeed than the limit (one handle)";
const exempt = (what: string): string => `permit: one whose deadline has passed in the line is ${what}`;
const messages = "permit: one that waits for it is claimed without one to deliver messages, until they are delivered";
const leaseEnd = frees("the lease ended, and whoever had it has to wait then");

function mistake(name: string, caughtBy: string, rules: PermitRules): BrokenStore {
  return { name, caughtBy, breaks: (store) => withPermitRules(store, rules) };
}

/**
 * Mistakes with permits: an execution with a concurrency key may be claimed only while its key has a free permit. Each mistake is a
 * correct store with one wrong rule, and names the contract case that finds it.
 */
export const brokenPermits: readonly BrokenStore[] = [
  mistake("takes no notice of permits", counts, { limitOf: () => Number.POSITIVE_INFINITY }),
  mistake("lets one more in than it may", counts, { limitOf: ({ limit }) => limit + 1 }),
  mistake("lets in one of each key, whatever the limit", counts, { limitOf: () => 1 }),
  mistake("goes by the highest limit it has seen", "permit: of different limits each execution goes by its own", { limitOf: () => 3 }),
  mistake("takes no notice of permits when it is asked for an id", counts, { ignoresIds: true }),
  mistake("gives the shortest due first", "permit: of one key the longest due comes first, also one after the other", {
    reversed: true,
  }),
  mistake("gives those without a key first, always", "permit: those with a key come to be claimed however much work there is without one", {
    plainFirst: true,
  }),
  mistake("claims a new execution that needs a permit", "permit: a new execution with one is not claimed with its creation", {
    claimsAtCreation: true,
  }),
  mistake("keeps a permit whose claim was given back", frees("the claim was given back"), {
    frees: ["commit", "end", "foreign end", "lease"],
  }),
  mistake("keeps a permit that was given back with a commit", frees("it was given back with a commit"), {
    frees: ["release", "end", "foreign end", "lease"],
  }),
  mistake("keeps the permit of an execution that ended", frees("the execution ended"), {
    frees: ["release", "commit", "foreign end", "lease"],
  }),
  mistake("keeps the permit of an execution that was ended by another than its holder", frees("somebody else ended it"), {
    frees: ["release", "commit", "end", "lease"],
  }),
  mistake("keeps the permit of a holder that is lost for ever", leaseEnd, { frees: ["release", "commit", "end", "foreign end"] }),
  mistake("forgets a permit when its claim is renewed", "permit: a renewal keeps it", { renews: false }),
  mistake("renews a claim whose permit others have", "permit: a claim whose lease ended is not renewed when others have its place", {
    revives: true,
  }),
  mistake("lets one that waits for a permit hold up all others", "permit: those who wait for their turn hold up nobody", {
    queuesAll: true,
  }),
  mistake("gives any execution when it is asked for a key", "permit: claims of one key give that key only", { ignoresKeys: true }),
  mistake("gives executions with a key that are not overdue", "permit: what is not overdue is left, also with a key", {
    ignoresOverdue: true,
  }),
  mistake("compares keys without case", "permit: keys are compared as they are", { keyOf: (key) => key.toLowerCase() }),
  mistake("compares keys without the spaces at their ends", "permit: keys are compared as they are", { keyOf: (key) => key.trim() }),
  mistake("compares the first 254 characters of keys", "permit: keys are compared as they are", { keyOf: (key) => key.slice(0, 254) }),
  mistake("lets one wait for a permit beyond its deadline", exempt("claimed without one, and counts for nothing"), {
    exemptAtOf: (head) => (head.outbox ? exemptAtOf(head) : null),
  }),
  mistake("lets messages wait for a permit", messages, { exemptAtOf: ({ outbox: _, ...head }) => exemptAtOf(head) }),
  mistake("claims without a permit for messages that were delivered", messages, {
    exemptAtOf: (head) => (head.outbox ? 0 : exemptAtOf(head)),
  }),
  mistake("claims whatever has a deadline without a permit", exempt("claimed without one, and counts for nothing"), {
    exemptAtOf: (head) => (head.deadlineAt === undefined ? exemptAtOf(head) : 0),
  }),
  mistake("claims without a permit though the end is decided", "permit: one whose end is decided waits for it, whatever its deadline was", {
    exemptAtOf: ({ ending: _, ...head }) => exemptAtOf(head),
  }),
  mistake(
    "goes by the deadline of the start",
    "permit: one whose deadline was moved is claimed without one only when the new one has passed",
    { keepsDeadlines: true },
  ),
  mistake("claims without a permit only what it finds itself", exempt("claimed by its id"), { exemptsNoIds: true }),
  mistake("counts what it claims without a permit", exempt("claimed without one, and counts for nothing"), { countsExempt: true }),
  mistake(
    "claims without a permit only once",
    "permit: one that was claimed without one is claimed again when its lease has ended, not before",
    { exemptsOnce: true },
  ),
  mistake(
    "gives the latest deadline first",
    "permit: those that need none at this moment are claimed up to the limit, the earliest deadline first",
    { latestExemptFirst: true },
  ),
  mistake("lets an execution whose lease ended rest for a claim", "permit: one whose lease ended is claimed again by its id at once", {
    restsLost: true,
  }),
  mistake("does not tell that a claim has no permit", exempt("claimed without one, and counts for nothing"), { hidesExempt: true }),
  mistake("counts the permits that are taken, and takes one later", race, { countsFirst: true }),
];
