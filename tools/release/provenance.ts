/** The subject of a statement, or a source of the build: SHA-256 and other digests in hexadecimal. */
export interface Resource {
  readonly name: string;
  readonly digest: Readonly<Record<string, string>>;
}

export interface Build {
  readonly version: string;
  /** Name of the image without registry host, digest and tag, unless the caller gave one. */
  readonly repository: string;
  readonly commit: string;
  /** Who vouches for the build, a URI. */
  readonly builder: string;
  readonly materials: readonly Resource[];
}

/** An in-toto statement with a SLSA provenance, both of version 1. Without times, so that it is the same each time. */
export function provenance({ version, repository, commit, builder, materials }: Build, subject: readonly Resource[]) {
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject,
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'https://plimsoll.dev/release/v1',
        externalParameters: { version, repository },
        resolvedDependencies: [{ name: 'source', digest: { gitCommit: commit } }, ...materials],
      },
      runDetails: { builder: { id: builder } },
    },
  };
}
