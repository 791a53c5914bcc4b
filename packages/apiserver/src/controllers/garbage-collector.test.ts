import { garbagePlay } from '../../behaviour/garbage-play.js';
import { embeddedServer } from './embedded-server.fixture.js';

garbagePlay(embeddedServer());
