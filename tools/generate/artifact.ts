/** A generated file; the path is relative to the root of the repository. */
export interface Artifact {
  readonly path: string;
  readonly text: string;
}
