/** Maximum open requests; with more, the API server only queues them. */
export const MAX_OPEN = 16;

/** Requests something for each item, in order and many at once. `request` resolves with whether to go on. */
export async function requestEach<T>(items: readonly T[], request: (item: T) => Promise<boolean>): Promise<void> {
  const next = items.values();
  const work = async (): Promise<void> => {
    for (const item of next) if (!(await request(item))) return;
  };
  await Promise.all(Array.from({ length: MAX_OPEN }, work));
}
