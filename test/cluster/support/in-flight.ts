/** Does something for each item, for so many of them at a time. Answers in the order of the items. */
export async function inFlight<T, R>(atOnce: number, items: Iterable<T>, act: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const left = [...items].entries();
  const work = async (): Promise<void> => {
    for (const [index, item] of left) results[index] = await act(item);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return results;
}
