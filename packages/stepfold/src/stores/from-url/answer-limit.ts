/**
 * How long the clients of most databases that are opened here wait for an answer, in milliseconds. It is a little less than the 10 s that a
 * runtime with the default lease waits, so that the client gives up a dead connection first and can open a new one.
 */
export const answerLimitMs = 9_000;
