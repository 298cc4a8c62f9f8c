import { describe, expect, test } from 'vitest';
import { readDockerfile } from './dockerfile.ts';

const TEXT = `# a comment
FROM base AS first
RUN make it
FROM base
WORKDIR /app
ENV MODE=production
COPY --from=first /made made
COPY package.json ./
COPY deploy/crds deploy/crds
ENV CACHE=/var/tmp/cache
USER 65532:65532
RUN node --flag=1 main.ts --help > /dev/null \\
  && node other.ts > /dev/null
`;

describe('readDockerfile', () => {
  test('takes the last stage alone, without what comes from another', () => {
    expect(readDockerfile(TEXT)).toEqual({
      workingFolder: '/app',
      environment: { MODE: 'production', CACHE: '/var/tmp/cache' },
      user: '65532:65532',
      copies: [
        ['package.json', 'package.json'],
        ['deploy/crds', 'deploy/crds'],
      ],
      commands: [
        ['node', '--flag=1', 'main.ts', '--help'],
        ['node', 'other.ts'],
      ],
    });
  });

  test('refuses an instruction that it cannot follow', () => {
    expect(() => readDockerfile('FROM base\nVOLUME /data')).toThrow('cannot follow "VOLUME" of the Dockerfile');
  });
});
