"""A longer text, for what shows only after many tokens.

Written for this book, so that no model has seen it in training.
"""

from __future__ import annotations

LONG_TEXT = (
    "The Island Clock\n\n"
    "The harbour of Sunde has a clock that runs seven minutes late, and "
    "nobody may correct it. Visitors notice it when they miss the ferry for "
    "the first time. They stand on the quay with their bags, look up at the "
    "white face with the iron hands, and then at the wake of the boat, "
    "which is already past the outer buoy. The woman in the ticket office "
    'has a sentence ready for them. "The clock is right," she says. "It is '
    'only late."\n\n'
    "I came to Sunde in a wet April to repair the pumps of the fish hall, a "
    "job of three weeks that became a job of three years. My landlord was "
    "called Anders Holm. He had been a pilot for most of his life, and "
    "after that, for a shorter time, the keeper of the clock. He was a tall "
    "man who stooped in every doorway out of habit, even in the doorways "
    "that were high enough. On the first evening he showed me the room, the "
    "stove, the shelf where the tea was kept, and a small brass key on a "
    'nail beside the window. "You may touch everything in this house," he '
    'said, "except the key."\n\n'
    "Naturally I thought about nothing else for a week. It was a plain key "
    "with a round bow and two teeth. It did not fit the front door, which "
    "was never locked, nor the chest at the foot of the stairs, which had "
    "lost its lid. When I asked the neighbours, they talked about the "
    "weather. When I asked the woman in the ticket office, whose name was "
    "Liv, she laughed and said that I should learn to tell the time first.\n\n"
    "The pumps were in a bad state. There were four of them, numbered with "
    "white paint, and pump number three had been out of order for so long "
    "that a family of sparrows lived in its housing. I took the first two "
    "apart on the floor of the fish hall and laid the pieces out on old "
    "newspapers. The bearings were worn, and the salt had eaten the shafts. "
    "I wrote a list of what I needed and sent it to the mainland with the "
    "morning ferry. The parts came back two weeks later with the evening "
    "ferry, and they were the wrong size. In this manner April went by, and "
    "most of May.\n\n"
    "I used the time to learn about the clock. It hung on the north wall of "
    "the customs house, where it could be seen from every boat that came "
    "in. It had been made in the year of the great storm by a man from the "
    "south who did not stay to see it wound. The movement stood in a wooden "
    "case on the first floor, behind the office of the harbour master, and "
    "it needed to be wound every Saturday. The weights were two barrels "
    "filled with stones. All this was explained to me by the harbour master "
    "himself, a careful person with ink on his cuffs, who wrote down in a "
    "large book every boat that entered or left the harbour. He wrote down "
    "the time as well, and he took the time from the clock.\n\n"
    '"But the clock is late," I said.\n\n'
    '"The book is late too," he said. "They agree with each other. That is '
    'what matters in a book."\n\n'
    "In June the right parts arrived. I put the first pump together, and it "
    "ran. I put the second pump together, and it ran so loudly that the "
    "fishermen came in from the quay to see what had happened. They stood "
    "around it in their yellow coats, nodding, as if it were a newborn "
    "calf. One of them, a man with a red beard called Torvald, brought me "
    "two mackerel in a piece of newspaper. I fried them that evening for "
    "Anders Holm and myself, with potatoes from his garden. It was warm "
    "enough to leave the window open. The key on its nail moved a little in "
    "the draught, and made a small sound against the wall.\n\n"
    '"You have not touched it," said Anders Holm.\n\n'
    '"No," I said.\n\n'
    '"Then I will tell you what it is for." He put down his fork. "It opens '
    "the case of the clock. There are two keys. The harbour master has one "
    "for the winding. The other one has belonged to the pilot since my "
    "grandfather's time, and it is for the hands. With the first key you "
    "can keep the clock going. With the second you can set it. I have had "
    'the second one for forty years, and I have used it once."\n\n'
    "He told me the story slowly, with long pauses, in which he looked for "
    "bones in his fish. His brother Nils had been the master of the mail "
    "boat in those days. There was a winter when the ice came early, and "
    "the mail boat had to leave the harbour before the turn of the tide or "
    "not at all. Nils was never on time. He was late for school as a boy, "
    "late for his own confirmation, and so late for his wedding that the "
    "priest had begun to put out the candles. On the last day before the "
    "ice, the mail boat was to leave at four in the afternoon, and in the "
    "mail boat there was to be a young woman with a fever who had to be "
    "brought to the hospital on the mainland. The harbour master of those "
    "years was a strict man. At four o'clock by the clock, the chain across "
    "the harbour was to be drawn, and it would not be opened again until "
    "the spring.\n\n"
    '"At half past three," said Anders Holm, "my brother was not on the '
    "quay. At ten minutes to four he was not on the quay. I was the pilot, "
    "and I was to take the boat out. So I went up the stairs behind the "
    "office, I opened the case with this key, and I put the hands back by "
    "seven minutes. Then I went down again and waited. When he came running "
    "along the quay with his boots untied, it was three minutes past four "
    "by every watch in Sunde, and four minutes to four by the clock. The "
    "harbour master looked at the clock. He looked at his watch. Then he "
    'put his watch back into his pocket, and he let us go."\n\n'
    '"And the young woman?" I asked.\n\n'
    '"She recovered. She came back in April, when the chain was opened. She '
    "sold tickets for the ferry for thirty years, and after that her "
    'daughter sold them." He smiled. "You know the daughter. Her name is '
    'Liv."\n\n'
    "I understood then why the clock was never set right. The harbour "
    "master of that time had known exactly what had been done, and on the "
    "next morning he had only to send for the pilot and the key. Instead he "
    "opened his large book and entered the mail boat as having left at four "
    "minutes to four. Since the book could not be wrong, the clock could "
    "not be wrong either, and from that day on, everything in the harbour "
    "of Sunde happened seven minutes later than it did elsewhere. The ferry "
    "company on the mainland never agreed to this. That is the only reason "
    "why visitors miss the boat.\n\n"
    "I stayed for the third pump. The sparrows left it in August, and I "
    "cleaned out the nest and found in it, among the straw, a piece of blue "
    "ribbon, a fish hook, and the second hand of a watch. In September I "
    "repaired the fourth pump. In October there was no more work for me in "
    "the fish hall, but by then the harbour master had asked me to look at "
    "the movement of the clock, because it had begun to stop on cold "
    "nights. I took it apart on his floor, on old newspapers, as I had done "
    "with the pumps. The bearings were worn, and the salt had eaten the "
    "shafts. It took me all winter. When I had put it together again, the "
    "harbour master wound it with his key, and Anders Holm came up the "
    "stairs, stooping under a beam that was far above his head, and opened "
    "the case with the other one.\n\n"
    "He asked me what time it was. I looked at my watch and told him. He "
    "thought about it for a moment. Then he set the hands, carefully, with "
    "one finger, to seven minutes before that, and closed the case.\n\n"
    '"Now it is right," he said.\n\n'
    "When he died, two years later, the key was in an envelope with my name "
    "on it. It hangs on the nail beside the window now. I have told my own "
    "lodgers that they may touch everything in the house except the key, "
    "and I wait to see which of them will ask. The pumps are running, all "
    "four of them. Liv has married a man from the mainland, who is always "
    "early, and who spends seven minutes of every day on the quay beside "
    "her, looking up at the white face of the clock and waiting for it to "
    "agree with him."
)
"""A story of about 1,500 words."""
