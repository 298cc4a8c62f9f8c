/** Flags of Node for demo processes: memory that the images hold lies outside V8's heap, so the heap can be small. */
export const SMALL_HEAP = ['--max-semi-space-size=1', '--max-old-space-size=64'];
