import { expectRoundTrips } from '@riata/testing';
import { test } from 'vitest';
import { Site } from './site.js';

test('nothing is lost between the versions of a Site', () => expectRoundTrips(Site));
