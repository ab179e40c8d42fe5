/**
 * How long clients that are opened here wait for an answer, in milliseconds: a little less than a runtime with the default lease, so
 * that the client, which can open a new connection, gives up a dead one.
 */
export const answerLimitMs = 9_000;
