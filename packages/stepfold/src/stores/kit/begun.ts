/** Starts work. An error that it throws at once becomes a rejection. */
export function begun<T>(work: () => Promise<T>): Promise<T> {
  try {
    return work();
  } catch (error) {
    return Promise.reject(error);
  }
}
