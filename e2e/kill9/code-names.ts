/** The id of the workflow in code whose executions fail until they are restarted. */
export const codedBreaking = "coded-breaking";
/** The name of the step that keeps which step of a race was first, and the names of those that race. */
export const race = { judge: "raced", contenders: ["left", "right"] } as const;
/** The ids of the workflows in code, in the order in which clients start them. */
export const codeNames: readonly string[] = ["coded", "coded-rounds", codedBreaking];
