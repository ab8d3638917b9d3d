"""Models in Paddle: those of torch_side/nets.py."""

import paddle
from paddle import nn


class Residual(nn.Layer):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2D(channels, channels, 3, padding=1, bias_attr=False)
        self.bn1 = nn.BatchNorm2D(channels)
        self.conv2 = nn.Conv2D(channels, channels, 3, padding=1, groups=2)
        self.bn2 = nn.BatchNorm2D(channels)

    def forward(self, x):
        return nn.functional.relu(x + self.bn2(self.conv2(nn.functional.relu(self.bn1(self.conv1(x))))))


class ConvNet(nn.Layer):
    def __init__(self, classes=5, hidden=6):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2D(3, hidden, 3, stride=2), nn.BatchNorm2D(hidden), nn.PReLU(hidden))
        self.blocks = nn.LayerList([Residual(hidden), Residual(hidden)])
        self.up = nn.Conv2DTranspose(hidden, 4, 3)
        self.group, self.instance = nn.GroupNorm(2, 4), nn.InstanceNorm2D(4)
        self.scale = self.create_parameter([1, 4, 1, 1], default_initializer=nn.initializer.Constant(1.0))
        self.fc = nn.Linear(4, classes)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        x = self.instance(self.group(self.up(x))) * self.scale
        return self.fc(x[:, :, 2:, 1:].mean(axis=(2, 3)))


class Tanh(ConvNet):
    """Holds what ConvNet holds and computes something else."""

    def forward(self, x):
        return paddle.tanh(super().forward(x))


class Seq2Seq(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(11, 8, padding_idx=0)
        self.body = nn.Transformer(8, 2, 2, 2, 16, dropout=0.0)
        self.attend = nn.MultiHeadAttention(8, 2, kdim=6, vdim=5)
        self.position = self.create_parameter([9, 8])
        self.register_buffer("table", paddle.randn([7, 8]))
        self.register_buffer("scratch", paddle.zeros([2]), persistable=False)
        self.fc = nn.Linear(8, 8)

    def forward(self, source, target, memory):
        source, target = self.embed(source) + self.position[:7] + self.table, self.embed(target) + self.position[:7]
        out = self.body(source, target)
        return {"out": self.fc(out), "attended": self.attend(out, memory, memory[..., :5])}


class Classifier(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(13, 4)
        self.lstm = nn.LSTM(4, 5, 2, direction="bidirect")
        self.gru = nn.GRU(10, 3)
        self.cell = nn.LSTMCell(3, 6)
        self.fc = nn.Linear(6, 3)

    def forward(self, tokens):
        x, (h, _) = self.lstm(self.embed(tokens))
        x, _ = self.gru(x)
        _, state = self.cell(x[:, -1])
        return self.fc(state[0]), h


class Tied(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(9, 4)
        self.body = nn.Linear(4, 4)

    def forward(self, tokens):
        return paddle.matmul(paddle.tanh(self.body(self.embed(tokens))), self.embed.weight, transpose_y=True)


class Rare(nn.Layer):
    """Layouts that differ by a reshape, and norms of weights."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm([3, 4])
        self.bilinear = nn.Bilinear(4, 4, 6)
        self.weighted = nn.utils.weight_norm(nn.Linear(6, 5), dim=1)
        self.parametrized = nn.utils.weight_norm(nn.Conv1D(3, 2, 2))
        self.spectral = nn.utils.spectral_norm(nn.Linear(5, 4))

    def forward(self, x):
        x = self.norm(x)
        flat = x.reshape([-1, 4])
        out = self.bilinear(flat, flat).reshape([*x.shape[:-1], 6])
        return self.spectral(self.weighted(out)), self.parametrized(x)


class Projected(nn.Layer):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 6, 2, proj_size=3)

    def forward(self, x):
        return self.lstm(x)[0]


def example_inputs():
    return {"tokens": paddle.to_tensor([[1, 2, 12], [0, 7, 3]])}
