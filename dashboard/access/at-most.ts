/** The same call, at most `most` of them under way at once; the others wait in the order in which they came. */
export function atMost<A extends readonly unknown[], T>(
  most: number,
  call: (...args: A) => Promise<T>,
): (...args: A) => Promise<T> {
  const waiting: (() => void)[] = [];
  let underWay = 0;
  const leave = (): void => {
    const next = waiting.shift();
    if (next === undefined) underWay -= 1;
    else next();
  };
  return async (...args) => {
    // The one that ends hands its place over, so that a call that comes in between does not take it.
    if (underWay >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else underWay += 1;
    return await call(...args).finally(leave);
  };
}
