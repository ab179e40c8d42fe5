import type { Status } from "stepfold";

/** How a status is coloured. */
export const statusMeaning: { readonly [S in Status]: "good" | "bad" | "wait" } = {
  active: "wait",
  paused: "wait",
  error: "wait",
  parked: "bad",
  completed: "good",
  failed: "bad",
  cancelled: "bad",
};
