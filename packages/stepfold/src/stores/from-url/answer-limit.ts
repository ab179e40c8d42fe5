/**
 * How long clients that are opened here wait for an answer, in milliseconds: a little less than a runtime with the default lease, so
 * that a connection that is dead is given up by whoever can replace it.
 */
export const answerLimitMs = 9_000;
