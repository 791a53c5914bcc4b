/** Waits for a value, and takes an error for none. */
export async function until<T>(get: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const value = await get().catch(() => undefined);
    if (value !== undefined) return value;
    await new Promise((done) => setTimeout(done, 20));
  }
}
