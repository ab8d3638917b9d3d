"""Models in torch; paddle_side/nets.py has the same ones as a conversion gives them, in a module of the same name."""

import torch
from torch import nn


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, groups=2)
        self.bn2 = nn.BatchNorm2d(channels)

    def forward(self, x):
        return torch.relu(x + self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x))))))


class ConvNet(nn.Module):
    def __init__(self, classes=5, hidden=6):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, hidden, 3, stride=2), nn.BatchNorm2d(hidden), nn.PReLU(hidden))
        self.blocks = nn.ModuleList([Residual(hidden), Residual(hidden)])
        self.up = nn.ConvTranspose2d(hidden, 4, 3)
        self.group, self.instance = nn.GroupNorm(2, 4), nn.InstanceNorm2d(4, affine=True)
        self.scale = nn.Parameter(torch.ones(1, 4, 1, 1))
        self.fc = nn.Linear(4, classes)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        x = self.instance(self.group(self.up(x))) * self.scale
        return self.fc(x[:, :, 2:, 1:].mean(dim=(2, 3)))


class Tanh(ConvNet):
    """Holds what ConvNet holds and computes something else."""

    def forward(self, x):
        return torch.tanh(super().forward(x))


class Seq2Seq(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(11, 8, padding_idx=0)
        self.body = nn.Transformer(8, 2, 2, 2, 16, dropout=0.0, batch_first=True)
        self.attend = nn.MultiheadAttention(8, 2, kdim=6, vdim=5, batch_first=True)
        self.position = nn.Parameter(torch.zeros(9, 8))
        self.register_buffer("table", torch.randn(7, 8))
        self.register_buffer("scratch", torch.zeros(2), persistent=False)
        self.fc = nn.Linear(8, 8)

    def forward(self, source, target, memory):
        source, target = self.embed(source) + self.position[:7] + self.table, self.embed(target) + self.position[:7]
        out = self.body(source, target)
        return {"out": self.fc(out), "attended": self.attend(out, memory, memory[..., :5])[0]}


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(13, 4)
        self.lstm = nn.LSTM(4, 5, 2, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(10, 3, batch_first=True)
        self.cell = nn.LSTMCell(3, 6)
        self.fc = nn.Linear(6, 3)

    def forward(self, tokens):
        x, (h, _) = self.lstm(self.embed(tokens))
        x, _ = self.gru(x)
        state = self.cell(x[:, -1])
        return self.fc(state[0]), h


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(9, 4)
        self.body = nn.Linear(4, 4)
        self.head = nn.Linear(4, 9, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, tokens):
        return self.head(torch.tanh(self.body(self.embed(tokens))))


class Rare(nn.Module):
    """Layouts that differ by a reshape, and norms of weights."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm([3, 4])
        self.bilinear = nn.Bilinear(4, 4, 6)
        self.weighted = nn.utils.weight_norm(nn.Linear(6, 5))
        self.parametrized = nn.utils.parametrizations.weight_norm(nn.Conv1d(3, 2, 2))
        self.spectral = nn.utils.spectral_norm(nn.Linear(5, 4))

    def forward(self, x):
        x = self.norm(x)
        return self.spectral(self.weighted(self.bilinear(x, x))), self.parametrized(x)


class Projected(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 6, 2, proj_size=3, batch_first=True)

    def forward(self, x):
        return self.lstm(x)[0]


def example_inputs():
    return (torch.randint(0, 13, (3, 6), generator=torch.Generator().manual_seed(1)),)
